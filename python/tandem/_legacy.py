"""The tensor types of old programs: FloatTensor(2, 3), LongTensor([1, 2]), and their namesakes in tandem.cuda."""

from . import _C
from .storage import TypedStorage, UntypedStorage


def legacy_tensor(dtype, device, args):
    """A tensor of sizes, of a sequence or of another tensor, as the old constructors read their arguments."""
    if len(args) == 1 and not isinstance(args[0], int):
        data = args[0]
        if isinstance(data, _C.Size):
            return _C.empty(data, dtype=dtype, device=device)
        if isinstance(data, _C.Tensor):
            if data.dtype is not dtype:
                raise TypeError(f"expected {dtype} (got {data.dtype})")
            return data.detach() if device is None else data.detach().to(device)
        if isinstance(data, (TypedStorage, UntypedStorage)):
            if isinstance(data, TypedStorage) and data.dtype is not dtype:
                raise RuntimeError(f"Expected a Storage of type {dtype} or an UntypedStorage, but got type {data.dtype}")
            return _C.empty(0, dtype=dtype, device=device).set_(data)
        if getattr(data, "__array_interface__", None) and type(data).__name__ == "ndarray":
            array = _C.from_numpy(data)  # its memory, where the numbers are of that dtype
            return array.to(dtype=dtype, device=device)
        if isinstance(data, (float, bool)):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
        made = _C.tensor(data, dtype=dtype)
        return made if device is None else made.to(device)
    if not args:
        return _C.empty(0, dtype=dtype, device=device)
    return _C.empty(*args, dtype=dtype, device=device)


class _LegacyType(type):
    def __instancecheck__(cls, value):
        return isinstance(value, _C.Tensor) and value.dtype is cls.dtype and value.is_cuda == (cls.device is not None)

    def __call__(cls, *args, device=None):
        return legacy_tensor(cls.dtype, device if device is not None else cls.device, args)

    def __repr__(cls):
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def legacy_types(module, device):
    """The types by their names."""
    kinds = {"Float": _C.float32, "Double": _C.float64, "Half": _C.float16, "BFloat16": _C.bfloat16, "Long": _C.int64, "Int": _C.int32, "Short": _C.int16,
             "Char": _C.int8, "Byte": _C.uint8, "Bool": _C.bool}
    return {f"{kind}Tensor": _LegacyType(f"{kind}Tensor", (), {"dtype": dtype, "device": device, "__module__": module}) for kind, dtype in kinds.items()}


globals().update(legacy_types("tandem", None))
