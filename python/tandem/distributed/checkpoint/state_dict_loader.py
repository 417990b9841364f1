"""load: fills a dictionary's tensors with those of a checkpoint, and replaces its other values."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributed.checkpoint import metadata as meta
from tandem.distributed.checkpoint.api import Ranks
from tandem.distributed.checkpoint.filesystem import FileSystemReader, storage_for
from tandem.distributed.checkpoint.planner import DefaultLoadPlanner, check_planner, entries_of, is_stateful, state_of
from tandem.distributed.fsdp._unit import ShardParameter


def _fill(target, name, described, places, reader):
    """Copies the stored parts of a tensor into the target."""
    for chunk in described.chunks:
        place = places.get(meta.MetadataIndex(name, chunk.offsets))
        if place is None:
            raise RuntimeError(f"the checkpoint does not say where the part of {name} at {tuple(chunk.offsets)} is: it is damaged")
        part = reader.read(place)
        if not isinstance(part, _C.Tensor) or part.shape != chunk.sizes:
            raise RuntimeError(
                f"the checkpoint's files have something else for {name} than a tensor of shape {tuple(chunk.sizes)}: it is damaged"
            )
        into = target.detach()
        for dim, (start, length) in enumerate(zip(chunk.offsets, chunk.sizes)):
            into = into.narrow(dim, start, length)
        into.copy_(part)


def _check(entry, described):
    """The errors of an entry that can be seen before anything is read."""
    if not isinstance(described, meta.TensorStorageMetadata):
        return
    value = entry.value
    if not isinstance(value, _C.Tensor):
        raise ValueError(
            f"the checkpoint has a tensor for {entry.name}, and the state_dict {type(value).__name__}: put a tensor of its size there"
        )
    size = value._member.shape if isinstance(value, ShardParameter) else value.size()
    if tuple(described.size) != tuple(size):
        raise ValueError(f"Size mismatch between saved {described.size} and current: {size} for {entry.name}")


def _read(entry, described, places, reader):
    """Puts what is stored under an entry's name into its place."""
    value = entry.value
    if isinstance(described, meta.BytesStorageMetadata):
        entry.value = reader.read(places[meta.MetadataIndex(entry.name)])
    elif isinstance(value, ShardParameter):
        whole = _C.empty(described.size, dtype=value.dtype)
        _fill(whole, entry.name, described, places, reader)
        for member, first, last, _ in value._unit.local_parts():
            if member is value._member:
                value.detach().copy_(whole.reshape(-1)[first:last])
    else:
        _fill(value, entry.name, described, places, reader)


@no_grad()
def load(state_dict, *, checkpoint_id=None, storage_reader=None, planner=None, process_group=None, no_dist=False):
    """Reads into a dictionary, which may be nested, what the checkpoint in the folder checkpoint_id has under its names.

    Tensors are filled in place, whatever device and dtype they are of, and must have the saved sizes; other values are replaced. Values
    with state_dict and load_state_dict are given their states. Every rank calls it. CheckpointException where a rank fails."""
    reader = storage_for(storage_reader, checkpoint_id, FileSystemReader)
    planner = check_planner(planner, DefaultLoadPlanner)
    states = state_of(state_dict)

    def read():
        found = reader.read_metadata()
        entries = entries_of(states, planner.flatten_state_dict)
        stored = found.state_dict_metadata
        for entry in entries:
            if entry.name not in stored and not planner.allow_partial_load:
                raise RuntimeError(f"Missing key in checkpoint state_dict: {entry.name}.")
            _check(entry, stored.get(entry.name))
        for entry in entries:
            if entry.name in stored:
                _read(entry, stored[entry.name], found.storage_data, reader)

    Ranks(process_group, no_dist).together(read, "load")
    for key, value in state_dict.items():
        if is_stateful(value):
            value.load_state_dict(states[key])
        else:
            state_dict[key] = states[key]


def load_state_dict(state_dict, storage_reader, process_group=None, coordinator_rank=0, no_dist=False, planner=None):
    """The older name of load."""
    load(state_dict, storage_reader=storage_reader, process_group=process_group, no_dist=no_dist, planner=planner)
