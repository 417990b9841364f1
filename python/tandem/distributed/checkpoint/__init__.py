"""Checkpoints that all ranks write and read together: a folder of PyTorch's own format, which other numbers of ranks can read."""

from tandem.distributed.checkpoint import state_dict  # noqa: F401
from tandem.distributed.checkpoint.api import CheckpointException  # noqa: F401
from tandem.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter  # noqa: F401
from tandem.distributed.checkpoint.metadata import (  # noqa: F401
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    TensorStorageMetadata,
)
from tandem.distributed.checkpoint.planner import DefaultLoadPlanner, DefaultSavePlanner  # noqa: F401
from tandem.distributed.checkpoint.state_dict_loader import load, load_state_dict  # noqa: F401
from tandem.distributed.checkpoint.state_dict_saver import async_save, save, save_state_dict  # noqa: F401
