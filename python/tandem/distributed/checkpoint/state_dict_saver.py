"""save: every rank writes its part of a checkpoint, at once or behind the program."""

import concurrent.futures
import copy
import enum
import threading

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributed import groups
from tandem.distributed.checkpoint import metadata as meta
from tandem.distributed.checkpoint.api import Ranks
from tandem.distributed.checkpoint.filesystem import FileSystemWriter, storage_for
from tandem.distributed.checkpoint.planner import DefaultSavePlanner, check_planner, entries_of, state_of
from tandem.distributed.fsdp._unit import ShardParameter


class AsyncCheckpointerType(enum.Enum):
    """What writes behind the program."""

    THREAD = "thread"
    PROCESS = "process"


def _whole(value):
    """A tensor as it is stored: a shard's whole parameter, which every rank asks for together."""
    if isinstance(value, ShardParameter):
        value = value.full_tensor()
    return value.detach() if isinstance(value, _C.Tensor) else value


def _entries(state_dict, planner):
    """Name, path and value of everything that is to be saved."""
    planner = check_planner(planner, DefaultSavePlanner)
    return [(entry.name, entry.path, _whole(entry.value)) for entry in entries_of(state_of(state_dict), planner.flatten_state_dict)]


def _write(entries, writer, ranks):
    """Writes this rank's share of the entries; gives the metadata of all, on every rank."""
    ranks.together(lambda: writer.prepare() if ranks.rank == 0 else None, "save")
    # Everyone knows what the others hold, so that what several do is written by the first of them.
    held = ranks.gather([name for name, _, _ in entries])
    before = {name for names in held[: ranks.rank] for name in names}
    mine = [entry for entry in entries if entry[0] not in before]

    def write():
        keys = {
            name: meta.MetadataIndex(name, _C.Size([0] * value.dim()), 0) if isinstance(value, _C.Tensor) else meta.MetadataIndex(name)
            for name, _, value in mine
        }
        stored = [(keys[name], value.contiguous() if isinstance(value, _C.Tensor) else value) for name, _, value in mine]
        places = writer.write(ranks.rank, stored)
        described = {
            name: meta.describe(value) if isinstance(value, _C.Tensor) else meta.BytesStorageMetadata() for name, _, value in mine
        }
        return described, {name: path for name, path, _ in mine}, places

    result = meta.Metadata({}, {}, {})
    for described, paths, places in ranks.together(write, "save"):
        result.state_dict_metadata.update(described)
        result.planner_data.update(paths)
        result.storage_data.update(places)
    ranks.together(lambda: writer.finish(result) if ranks.rank == 0 else None, "save")
    return result


@no_grad()
def save(
    state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, no_dist=False, use_collectives=True
):
    """Writes a dictionary of tensors and other values, which may be nested, into the folder checkpoint_id; gives its Metadata.

    Every rank of the group calls it. What several ranks hold under one name is written by the first of them; parameters of fully_shard
    are written whole. Values with state_dict and load_state_dict are asked for their states. CheckpointException where a rank fails."""
    writer = storage_for(storage_writer, checkpoint_id, FileSystemWriter)
    ranks = Ranks(process_group, no_dist)
    entries = []
    ranks.together(lambda: entries.extend(_entries(state_dict, planner)), "save")
    return _write(entries, writer, ranks)


@no_grad()
def async_save(
    state_dict,
    *,
    checkpoint_id=None,
    storage_writer=None,
    planner=None,
    process_group=None,
    async_checkpointer_type=AsyncCheckpointerType.THREAD,
    async_stager=None,
    no_dist=False,
    use_collectives=True,
):
    """As save, but returns as soon as all is copied: a thread writes it. Gives a concurrent.futures.Future of the Metadata.

    The ranks' threads talk to each other, over a group of their own: over process_group if it is given, which nothing else may use then."""
    writer = storage_for(storage_writer, checkpoint_id, FileSystemWriter)
    ranks = Ranks(process_group, no_dist)
    if ranks.size > 1 and process_group is None:
        ranks.group = _group_of_threads()
    entries = []
    ranks.together(lambda: entries.extend((name, path, _copied(value)) for name, path, value in _entries(state_dict, planner)), "save")
    future = concurrent.futures.Future()
    future.set_running_or_notify_cancel()

    def run():
        try:
            future.set_result(_write(entries, writer, ranks))
        except BaseException as error:  # CheckpointException is one
            future.set_exception(error)

    threading.Thread(target=run, name="checkpoint").start()
    return future


def _copied(value):
    """A value that the program's next steps do not change."""
    if isinstance(value, _C.Tensor):
        return value.clone() if value.device.type == "cpu" else value.cpu()
    return copy.deepcopy(value)


_groups = {}


def _group_of_threads():
    """A group of all ranks for checkpoints behind the program; made once for each meeting of the ranks."""
    everyone = groups.group.WORLD
    if _groups.get("of") is not everyone:
        _groups.update(of=everyone, group=groups.new_group())
    return _groups["group"]


def save_state_dict(state_dict, storage_writer, process_group=None, coordinator_rank=0, no_dist=False, planner=None):
    """The older name of save."""
    return save(state_dict, storage_writer=storage_writer, process_group=process_group, no_dist=no_dist, planner=planner)
