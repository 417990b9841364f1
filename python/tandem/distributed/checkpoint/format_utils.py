"""Checkpoints in folders as files of tandem.save's, and back. Of one process, with memory for all of it."""

from tandem import _C
from tandem.distributed.checkpoint.filesystem import FileSystemReader
from tandem.distributed.checkpoint.metadata import TensorStorageMetadata
from tandem.distributed.checkpoint.state_dict_loader import load
from tandem.distributed.checkpoint.state_dict_saver import save
from tandem.serialization import load as load_file
from tandem.serialization import save as save_file

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def _put(tree, path, value):
    """Sets the value at a path of keys and indices, making what is missing on the way."""
    for key, following in zip(path, path[1:]):
        _reach(tree, key)
        if tree[key] is None:
            tree[key] = [] if isinstance(following, int) else {}
        tree = tree[key]
    _reach(tree, path[-1])
    tree[path[-1]] = value


def _reach(tree, key):
    if isinstance(tree, list):
        tree.extend([None] * (key + 1 - len(tree)))
    else:
        tree.setdefault(key, None)


def dcp_to_torch_save(dcp_checkpoint_dir, torch_save_path):
    """Writes all of a checkpoint, nested as it was, to one file."""
    found, flat = FileSystemReader(dcp_checkpoint_dir).read_metadata(), {}
    for name, described in found.state_dict_metadata.items():
        is_tensor = isinstance(described, TensorStorageMetadata)
        flat[name] = _C.empty(described.size, dtype=described.properties.dtype) if is_tensor else None
    load(flat, checkpoint_id=dcp_checkpoint_dir, no_dist=True)
    nested = {}
    for name, value in flat.items():
        _put(nested, (found.planner_data or {}).get(name, (name,)), value)
    save_file(nested, torch_save_path)


def torch_save_to_dcp(torch_save_path, dcp_checkpoint_dir):
    """Writes what a file of tandem.save's or PyTorch's holds as a checkpoint."""
    save(load_file(torch_save_path, map_location="cpu"), checkpoint_id=dcp_checkpoint_dir, no_dist=True)
