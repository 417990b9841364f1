"""What a checkpoint's `.metadata` file holds, by the names that PyTorch pickles, written and read without running code of the file's."""

import enum
import pickle
import posixpath
from dataclasses import dataclass, field

from tandem import _C
from tandem._formats import channels_last, contiguous_format, layout, preserve_format, strided
from tandem.serialization import _Global, _Pickler, _Unpickler


class _MEM_FORMAT_ENCODING(enum.Enum):
    """A memory format as it is pickled."""

    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


_FORMATS = {0: contiguous_format, 1: channels_last, 2: preserve_format}
_CODES = {id(value): code for code, value in _FORMATS.items()}


@dataclass
class ChunkStorageMetadata:
    """A part of a tensor: where it begins in each dimension, and its sizes."""

    offsets: _C.Size
    sizes: _C.Size


@dataclass
class TensorProperties:
    """What a tensor is besides its numbers."""

    dtype: object = field(default_factory=_C.get_default_dtype)
    layout: object = strided
    requires_grad: bool = False
    memory_format: object = contiguous_format
    pin_memory: bool = False
    strides: tuple | None = None

    def __getstate__(self):
        code = _MEM_FORMAT_ENCODING(_CODES.get(id(self.memory_format), 0))
        return self.dtype, self.layout, self.requires_grad, code, self.pin_memory, self.strides

    def __setstate__(self, state):
        self.dtype, self.layout, self.requires_grad, code, self.pin_memory, *strides = state
        self.memory_format, self.strides = _FORMATS[code.value], strides[0] if strides else None

    @staticmethod
    def create_from_tensor(tensor):
        """The properties of a tensor."""
        return TensorProperties(tensor.dtype, strided, tensor.requires_grad, contiguous_format, tensor.is_pinned(), tuple(tensor.stride()))


@dataclass
class TensorStorageMetadata:
    """A tensor: its properties, its size, and the parts that are stored."""

    properties: TensorProperties
    size: _C.Size
    chunks: list


@dataclass
class BytesStorageMetadata:
    """Anything else."""


@dataclass
class StorageMeta:
    """Where and by which call it was written."""

    checkpoint_id: str | None = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list = field(default_factory=list)


@dataclass
class Metadata:
    """All of it: what is stored under each name, the place of the name in the nested dictionary, and the place in the files."""

    state_dict_metadata: dict
    planner_data: dict | None = None
    storage_data: dict | None = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass(frozen=True)
class MetadataIndex:
    """The key of a stored part: a name, where the part begins, and its number among the tensor's parts."""

    fqn: str
    offset: _C.Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)


@dataclass
class _StorageInfo:
    """Where a stored part is: a file in the folder, the first byte and the number of bytes."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: list | None = None


_PLACE = "torch.distributed.checkpoint"
_CLASSES = [ChunkStorageMetadata, TensorProperties, TensorStorageMetadata, BytesStorageMetadata, StorageMeta, Metadata, MetadataIndex]
_CLASSES += [_MEM_FORMAT_ENCODING]
_NAMES = {kind: (f"{_PLACE}.metadata", kind.__name__) for kind in _CLASSES} | {_StorageInfo: (f"{_PLACE}.filesystem", "_StorageInfo")}


class _MetadataPickler(_Pickler):
    """Writes the classes of this file under PyTorch's names."""

    def save(self, obj, save_persistent_id=True):
        super().save(_Global(*_NAMES[obj]) if isinstance(obj, type) and obj in _NAMES else obj, save_persistent_id)

    def reducer_override(self, obj):
        if isinstance(obj, layout):
            return _Global("torch.serialization", "_get_layout"), (repr(obj),)
        if isinstance(obj, _MEM_FORMAT_ENCODING):
            return _Global(*_NAMES[_MEM_FORMAT_ENCODING]), (obj.value,)
        return super().reducer_override(obj)


def _layout_of(name):
    if name != "torch.strided":
        raise pickle.UnpicklingError(f"the checkpoint has tensors of layout {name}; tandem has strided ones only")
    return strided


class _MetadataUnpickler(_Unpickler):
    """Reads them; any other name is an error."""

    def __init__(self, file):
        super().__init__(file, None, trusted=False, encoding="utf-8")
        self._names.update({name: kind for kind, name in _NAMES.items()})
        self._names["torch.serialization", "_get_layout"] = _layout_of
        for kind in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"):
            self._names["pathlib", kind] = lambda *parts: posixpath.join(*parts)


def write_metadata(metadata, file):
    """Pickles it as PyTorch does."""
    _MetadataPickler(file, 2).dump(metadata)


def read_metadata(file):
    """What write_metadata, or PyTorch, has written."""
    metadata = _MetadataUnpickler(file).load()
    if not isinstance(metadata, Metadata):
        raise pickle.UnpicklingError(f"the file holds {type(metadata).__name__}, no metadata of a checkpoint")
    return metadata


def describe(tensor):
    """The metadata of a tensor that is stored in one part."""
    size = tensor.size()
    return TensorStorageMetadata(TensorProperties.create_from_tensor(tensor), size, [ChunkStorageMetadata(_C.Size([0] * len(size)), size)])
