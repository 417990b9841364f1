"""Checkpoints in a folder: a file `__<rank>_0.distcp` of each rank's tensors and values, and `.metadata`, which says what is where."""

import io
import os
import uuid
import warnings

from tandem import _files
from tandem.distributed.checkpoint import metadata as meta
from tandem.serialization import load, save

_METADATA = ".metadata"


class FileSystemWriter:
    """Writes a checkpoint into the folder `path`, which it makes.

    single_file_per_rank: one file for each rank, else one for each tensor or value. sync_files: waits until the disk has them. overwrite:
    whether an older checkpoint there may be replaced. The other arguments are accepted: a rank writes its parts one after another."""

    def __init__(
        self,
        path,
        single_file_per_rank=True,
        sync_files=True,
        thread_count=1,
        per_thread_copy_ahead=10000000,
        cache_staged_state_dict=False,
        overwrite=True,
        _extensions=None,
        serialization_format=None,
    ):
        self.path, self.save_id = os.fspath(path), str(uuid.uuid4())
        self.single_file_per_rank, self.sync_files, self.overwrite = single_file_per_rank, sync_files, overwrite

    @property
    def checkpoint_id(self):
        """The folder."""
        return self.path

    def prepare(self):
        """Makes the folder, and a checkpoint that is there unreadable, before its files are replaced; one rank does it."""
        os.makedirs(self.path, exist_ok=True)
        place = os.path.join(self.path, _METADATA)
        if os.path.exists(place):
            if not self.overwrite:
                raise RuntimeError("Checkpoint already exists and self.overwrite=False.")
            warnings.warn(f"Detected an existing checkpoint in {place}, overwriting since self.overwrite=True.", stacklevel=2)
            os.unlink(place)

    def write(self, rank, items):
        """Writes a rank's items, pairs of key and tensor or value; gives where each of them is."""
        places = {}
        parts = [list(items)] if self.single_file_per_rank else [[item] for item in items]
        for number, part in enumerate(part for part in parts if part):
            name = f"__{rank}_{number}.distcp"
            with _files.whole(os.path.join(self.path, name), sync=self.sync_files) as file:
                for index, value in part:
                    start = file.tell()
                    file.write(_saved(value))
                    places[index] = meta._StorageInfo(name, start, file.tell() - start)
        return places

    def finish(self, metadata):
        """Writes what makes the checkpoint a whole one; one rank does it, after all have written."""
        metadata.storage_meta = meta.StorageMeta(checkpoint_id=self.path, save_id=self.save_id)
        metadata.version = "1.0.0"
        with _files.whole(os.path.join(self.path, _METADATA), sync=self.sync_files) as file:
            meta.write_metadata(metadata, file)


def _saved(value):
    file = io.BytesIO()
    save(value, file)
    return file.getvalue()


class FileSystemReader:
    """Reads a checkpoint of the folder `path`."""

    def __init__(self, path, _extension_registry=None):
        self.path = os.fspath(path)

    @property
    def checkpoint_id(self):
        """The folder."""
        return self.path

    def read_metadata(self):
        """What is in the checkpoint and where."""
        with open(os.path.join(self.path, _METADATA), "rb") as file:
            return meta.read_metadata(file)

    def read(self, place):
        """The tensor (on the CPU) or value that is stored in a place. A file makes tensors, numbers, text and containers only."""
        if place.transform_descriptors:
            raise NotImplementedError(f"the checkpoint's files are transformed by {place.transform_descriptors}: tandem reads plain ones")
        path = os.path.join(self.path, place.relative_path)
        if os.path.dirname(os.path.normpath(place.relative_path)) or not os.path.isfile(path):
            raise RuntimeError(f"the checkpoint's .metadata names the file {place.relative_path!r}, which is not in {self.path}")
        with open(path, "rb") as file:
            file.seek(place.offset)
            data = file.read(place.length)
        if len(data) != place.length:
            raise RuntimeError(f"{path} has {len(data)} bytes at {place.offset} where the checkpoint says {place.length}: it is damaged")
        return load(io.BytesIO(data), map_location="cpu", weights_only=True)


def storage_for(given, checkpoint_id, kind):
    """The reader or writer that a caller gives, or one for the folder checkpoint_id."""
    if given is None:
        if checkpoint_id is None:
            raise RuntimeError("`checkpoint_id` must be specified if storage_reader/storage_writer is None.")
        return kind(checkpoint_id)
    if not isinstance(given, kind):
        raise NotImplementedError(f"tandem.distributed.checkpoint takes a {kind.__name__}, not a {type(given).__name__}")
    if checkpoint_id is not None:
        given.path = os.fspath(checkpoint_id)
    return given
