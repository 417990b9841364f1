"""save and load: files of PyTorch's own formats, a zip of a pickle and the tensors' bytes, and the one before. Loading runs no code of the file's."""

import collections
import io
import os
import pickle
import typing
import zipfile

from . import _C, _files

_OLD_MAGIC = bytes.fromhex("6cfc9c46f9206aa85019")  # the number that files before PyTorch 1.6 begin with, as a pickle has it
_OLD_VERSION = 1001
DEFAULT_PROTOCOL = 2  # of pickles, where save is not told
FILE_LIKE: typing.TypeAlias = str | os.PathLike | typing.IO[bytes]  # what save and load take
MAP_LOCATION: typing.TypeAlias = typing.Callable | _C.device | str | dict | None
_STORAGES = {"FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16", "LongStorage": "int64", "IntStorage": "int32",
             "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8", "BoolStorage": "bool"}
_STORAGE_OF = {dtype: storage for storage, dtype in _STORAGES.items()}


class _Global:
    """A name of PyTorch's in a pickle; called by nobody."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __call__(self, *args):
        raise TypeError(f"{self.module}.{self.name} is a name in a file")


class _Storage:
    """The memory of a tensor, as a pickle refers to it."""

    def __init__(self, tensor):
        self.tensor = tensor


class _Pickler(pickle._Pickler):
    """Writes tensors as PyTorch does."""

    def __init__(self, file, protocol, is_old=False):
        super().__init__(file, protocol=protocol)
        self.storages = {}  # by address and dtype: key, flat tensor
        self._more = (None,) if is_old else ()  # the older format can say that a storage is a part of another one

    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, _C.dtype):
            obj = _Global("torch", repr(obj).rsplit(".", 1)[-1])
        if type(obj) is _Global:
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
            return
        super().save(obj, save_persistent_id)

    def persistent_id(self, obj):
        if type(obj) is not _Storage:
            return None
        tensor = obj.tensor
        dtype = repr(tensor.dtype).rsplit(".", 1)[-1]
        address = (tensor._storage_address(), dtype, str(tensor.device)) if tensor.numel() else (id(tensor), dtype)
        if address not in self.storages:
            self.storages[address] = (str(len(self.storages)), _whole_storage(tensor))
        key, flat = self.storages[address]
        return "storage", _Global("torch", _STORAGE_OF[dtype]), key, str(tensor.device), flat.numel(), *self._more

    def reducer_override(self, obj):
        if isinstance(obj, _C.Tensor):
            return self._tensor(obj)
        if isinstance(obj, _C.device):
            return _Global("torch", "device"), (obj.type,) if obj.index is None else (obj.type, obj.index)
        if isinstance(obj, _C.Size):
            return _Global("torch", "Size"), (tuple(obj),)
        return NotImplemented

    def _tensor(self, tensor):
        from .nn.parameter import Parameter
        if isinstance(tensor, Parameter):
            return _Global("torch._utils", "_rebuild_parameter"), (tensor.detach(), tensor.requires_grad, collections.OrderedDict())
        plain = tensor.detach()
        return _Global("torch._utils", "_rebuild_tensor_v2"), (_Storage(plain), plain.storage_offset(), tuple(plain.shape), tuple(plain.stride()),
                                                               bool(tensor.requires_grad and tensor.is_leaf), collections.OrderedDict())


def _whole_storage(tensor):
    """All elements of the memory that a tensor is a part of."""
    if tensor.numel() == 0:
        return tensor.reshape(-1)
    elements = tensor._storage_bytes() // tensor.element_size()
    return _C.as_strided(tensor, (elements,), (1,), 0).cpu()


def save(obj, f, pickle_module=pickle, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Writes an object with its tensors, to a path or a file, as torch.save does; in the format before PyTorch 1.6 where _use_new_zipfile_serialization is False."""
    write = _write if _use_new_zipfile_serialization else _write_old
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {folder} does not exist.")
        with _files.whole(path) as file:
            write(obj, file, pickle_protocol, os.path.splitext(os.path.basename(path))[0] or "archive")
    else:
        write(obj, f, pickle_protocol, "archive")


def _write(obj, file, protocol, name):
    body = io.BytesIO()
    pickler = _Pickler(body, protocol)
    pickler.dump(obj)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{name}/data.pkl", body.getvalue())
        archive.writestr(f"{name}/byteorder", "little")
        from ._tensor import _bytes
        for key, flat in pickler.storages.values():
            archive.writestr(f"{name}/data/{key}", _bytes(flat))
        archive.writestr(f"{name}/version", "3\n")


def _write_old(obj, file, protocol, name):
    machine = {"protocol_version": _OLD_VERSION, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    for value in (int.from_bytes(_OLD_MAGIC, "little"), _OLD_VERSION, machine):
        pickle.dump(value, file, protocol)
    pickler = _Pickler(file, protocol, is_old=True)
    pickler.dump(obj)
    from ._tensor import _bytes
    pickle.dump([key for key, _ in pickler.storages.values()], file, protocol)
    for _, flat in pickler.storages.values():
        file.write(flat.numel().to_bytes(8, "little"))
        file.write(_bytes(flat))


class _Loaded:
    """The memory of a storage in a file: one tensor of one dimension."""

    def __init__(self, flat):
        self.flat = flat


def _rebuild_tensor(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None):
    flat = storage.flat
    if flat.numel() == 0 or 0 in size:
        made = _C.empty(size, dtype=flat.dtype, device=flat.device)
    else:
        made = _C.as_strided(flat, tuple(size), tuple(stride), offset)
    made = made.detach()
    return made.requires_grad_() if requires_grad else made


def _rebuild_parameter(data, requires_grad, hooks, state=None):
    from .nn.parameter import Parameter
    return Parameter(data, requires_grad)


def _dtype(name):
    return getattr(_C, name)


def _encode(text, encoding):
    """Bytes, as pickles of protocol 2 have them."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes in an encoding {encoding!r}, not latin1")
    return text.encode("latin1")


def _safe_names():
    """What a file may name without a say of its own."""
    import tandem
    names = {("collections", "OrderedDict"): collections.OrderedDict, ("collections", "defaultdict"): collections.defaultdict, ("collections", "Counter"): collections.Counter,
             ("_codecs", "encode"): _encode, ("torch._utils", "_rebuild_tensor"): _rebuild_tensor, ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor, ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
             ("torch._utils", "_rebuild_parameter_with_state"): _rebuild_parameter, ("torch", "Size"): _C.Size, ("torch", "device"): _C.device,
             ("torch._tensor", "_rebuild_from_type_v2"): lambda function, kind, args, state: function(*args), ("torch", "Tensor"): _C.Tensor,
             ("torch.nn.parameter", "Parameter"): tandem.nn.Parameter, ("torch.storage", "UntypedStorage"): _Global("torch", "ByteStorage")}
    for name in ("set", "frozenset", "complex", "bytearray", "list", "dict", "tuple", "int", "float", "bool", "str", "slice"):
        names["builtins", name] = getattr(__import__("builtins"), name)
        names["__builtin__", name] = names["builtins", name]
    for name in _STORAGE_OF:
        names["torch", name] = _dtype(name)
    for storage in _STORAGES:
        names["torch", storage] = _Global("torch", storage)
    for entry in _allowed:
        value, name = entry if isinstance(entry, tuple) else (entry, f"{entry.__module__}.{entry.__qualname__}")
        module, _, last = name.rpartition(".")
        names[module, last] = value
        top, dot, rest = module.partition(".")
        if top in ("tandem", "torch"):  # files of PyTorch's and of torch_compat say torch
            names[f"{'torch' if top == 'tandem' else 'tandem'}{dot}{rest}", last] = value
    return names


_allowed = []


def add_safe_globals(safe_globals):
    """Classes and functions that load(weights_only=True) may use; also as (object, "module.name")."""
    _allowed.extend(safe_globals)


def get_safe_globals():
    """What was added so."""
    return list(_allowed)


def clear_safe_globals():
    """Takes all of it back."""
    _allowed.clear()


class safe_globals:
    """with safe_globals([Net]): load(weights_only=True) may use these in this block."""

    def __init__(self, safe_globals):
        self._added = list(safe_globals)

    def __enter__(self):
        self._before = list(_allowed)
        add_safe_globals(self._added)

    def __exit__(self, *error):
        _allowed[:] = self._before


class _Unpickler(pickle.Unpickler):
    """Reads a pickle that may name a few things only, or any where the caller trusts the file."""

    def __init__(self, file, storage_of, trusted, encoding):
        super().__init__(file, encoding=encoding)
        self._storage_of, self._trusted, self._names = storage_of, trusted, _safe_names()

    def find_class(self, module, name):
        known = self._names.get((module, name))
        if known is not None:
            return known
        if not self._trusted:
            raise pickle.UnpicklingError(f"Weights only load failed. The file names {module}.{name}, which is not one of the classes that are loaded without a say of yours: "
                                         f"if you trust the file, load(..., weights_only=False), or add_safe_globals([{name}])")
        if module == "torch" or module.startswith("torch."):
            module = "tandem" + module[len("torch"):]
        return super().find_class(module, name)

    def persistent_load(self, saved):
        kind, storage, key, location, numel, *view = saved  # files before PyTorch 1.6 say which part of a storage it is
        if kind != "storage":
            raise pickle.UnpicklingError(f"Unknown typename for persistent_load, expected 'storage' but got '{kind}'")
        view = [part for part in view if part is not None]
        return self._storage_of(key, _dtype(_STORAGES[storage.name]), location, numel, *view)


def _is_trusted(weights_only):
    """Whether a file may make any object: what the program says; where it says nothing, what the environment says, as PyTorch reads it."""
    plain, all_objects = (os.environ.get(name, "0").lower() in ("1", "y", "yes", "true")
                          for name in ("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"))
    if plain and all_objects:
        raise RuntimeError("Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both were set.")
    return not plain and (weights_only is False or weights_only is None and all_objects)


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads what save wrote, here or in PyTorch. map_location: where tensors go - a device, a dict of names, a function(storage, location). With weights_only (the default)
    a file makes tensors, numbers, text and containers of them only."""
    trusted = _is_trusted(weights_only)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _read(file, map_location, trusted, pickle_load_args.get("encoding", "utf-8"))
    if not isinstance(f, io.RawIOBase):
        return _read(f, map_location, trusted, pickle_load_args.get("encoding", "utf-8"))
    buffered = io.BufferedReader(f)  # a raw file may give less than it was asked for
    try:
        return _read(buffered, map_location, trusted, pickle_load_args.get("encoding", "utf-8"))
    finally:
        buffered.detach()


def _read(file, map_location, trusted, encoding):
    start = file.tell()
    beginning = file.read(32)
    file.seek(start)
    if not beginning.startswith(b"PK\x03\x04"):
        if _OLD_MAGIC not in beginning:
            raise RuntimeError("load: this is no file of torch.save's: it begins neither as a zip archive nor as files before PyTorch 1.6 do")
        return _read_old(file, map_location, trusted, encoding)
    try:
        archive = zipfile.ZipFile(file)
        names = archive.namelist()
        pickled = [name for name in names if name.endswith("/data.pkl")]
        if len(pickled) != 1:
            raise RuntimeError("load: the archive has no data.pkl: it is no file of torch.save's")
    except zipfile.BadZipFile as error:
        raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {error}") from None
    prefix = pickled[0].removesuffix("data.pkl")
    if prefix + "byteorder" in names and archive.read(prefix + "byteorder") not in (b"little", b""):
        raise RuntimeError("load: the file's numbers are of a big-endian machine")
    if any("constants.pkl" in name for name in names):
        raise RuntimeError("load: this is a TorchScript archive (torch.jit.save); tandem has no TorchScript: save the state_dict instead")
    loaded = {}

    def storage_of(key, dtype, location, numel):
        if key not in loaded:
            data = archive.read(f"{prefix}data/{key}")
            if numel < 0 or len(data) < numel * dtype.itemsize:
                raise RuntimeError(f"load: storage {key} has {len(data)} bytes, not {numel * dtype.itemsize}: the file is damaged")
            flat = _C.frombuffer(bytearray(data), dtype=dtype) if data else _C.empty(0, dtype=dtype)
            loaded[key] = _Loaded(_placed(flat, location, map_location))
        return loaded[key]

    return _Unpickler(io.BytesIO(archive.read(pickled[0])), storage_of, trusted, encoding).load()


def _read_old(file, map_location, trusted, encoding):
    """The format before PyTorch 1.6: a magic number, a version, what machine it was, the value, the keys of its storages, each a pickle; then the storages."""
    start = file.tell()
    file.seek(0, os.SEEK_END)
    size = file.tell()
    file.seek(start)
    loaded, dtypes = {}, {}

    def storage_of(key, dtype, location, numel, view=None):
        if key not in loaded:
            if numel < 0 or numel * dtype.itemsize > size:
                raise RuntimeError(f"load: storage {key} is to have {numel} elements, more than the file: it is damaged")
            loaded[key], dtypes[key] = _Loaded(_placed(_C.empty(numel, dtype=dtype), location, map_location)), dtype
        if view is None:
            return loaded[key]
        _, offset, length = view
        return _Loaded(loaded[key].flat[offset:offset + length])

    def unpickle():
        return _Unpickler(file, storage_of, trusted, encoding).load()

    unpickle()  # the magic number
    if (version := unpickle()) != _OLD_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    machine = unpickle()
    result = unpickle()
    order = "little" if machine.get("little_endian", True) else "big"
    for key in unpickle():
        numel = int.from_bytes(file.read(8), order)
        flat, dtype = loaded[key].flat, dtypes[key]
        data = file.read(flat.numel() * dtype.itemsize)
        if numel != flat.numel() or len(data) != numel * dtype.itemsize:
            raise RuntimeError(f"load: storage {key} has {len(data)} bytes, not {flat.numel() * dtype.itemsize}: the file is damaged")
        if order == "big":
            raise RuntimeError("load: the file's numbers are of a big-endian machine")
        if data:
            flat.copy_(_C.frombuffer(bytearray(data), dtype=dtype))
    return result


def _placed(flat, location, map_location):
    """The storage where map_location says, else where it was."""
    if map_location is None:
        target = location
        if location.startswith("cuda") and _C.cuda.device_count() == 0:
            raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine, "
                               "please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU.")
    elif isinstance(map_location, dict):
        target = map_location.get(location, location)
    elif isinstance(map_location, (str, int, _C.device)):
        target = map_location
    else:
        result = map_location(flat, location)
        return flat if result is None else result
    return flat if str(target) == "cpu" else flat.to(target)
