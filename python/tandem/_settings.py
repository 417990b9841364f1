"""Settings by PyTorch's names: default dtype, printing, determinism, and what a dtype can hold."""

from . import _C
from ._arguments import type_name


def set_default_dtype(d):
    """The dtype of floating numbers without one of their own."""
    if not isinstance(d, _C.dtype):
        raise TypeError(f"invalid dtype object: only floating-point types are supported as the default type, not {d!r}")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _C.set_default_dtype(d)


def set_default_tensor_type(t):
    """The same by the name of an old tensor type: 'torch.DoubleTensor'."""
    name = t if isinstance(t, str) else t.__name__
    kinds = {"FloatTensor": _C.float32, "DoubleTensor": _C.float64, "HalfTensor": _C.float16, "BFloat16Tensor": _C.bfloat16}
    last = name.rsplit(".", 1)[-1]
    if last not in kinds:
        raise TypeError(f"invalid type object: only floating-point types are supported as the default type, not {name}")
    _C.set_default_dtype(kinds[last])
    _C.set_default_device("cuda" if ".cuda." in f".{name}" else None)


_PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, 2**62, 3, 80)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors print. `profile` is 'default', 'short' or 'full'; without `sci_mode` the numbers choose whether they have exponents."""
    now = list(_PROFILES.get(profile) or _C._get_printing()[:4])
    for at, value in enumerate((precision, threshold, edgeitems, linewidth)):
        if value is not None:
            now[at] = min(int(value), 2**62) if value != float("inf") else 2**62
    _C._set_printing(*now, sci_mode)


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Kernels of GPUs give the same bits every time; nothing is refused."""
    if not isinstance(mode, bool):
        raise TypeError(f"_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not {type(mode).__name__}")
    _C._use_deterministic(mode)


def are_deterministic_algorithms_enabled():
    """Whether that is switched on."""
    return _C.are_deterministic_algorithms_enabled()


def is_deterministic_algorithms_warn_only_enabled():
    """False: nothing is refused, so there is nothing to warn of."""
    return False


_DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}


def set_deterministic_debug_mode(debug_mode):
    """use_deterministic_algorithms by another name: 'default' or 0, 'warn' or 1, 'error' or 2."""
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise RuntimeError(f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}")
        debug_mode = _DEBUG_MODES[debug_mode]
    elif debug_mode not in _DEBUG_MODES.values():
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    _C._use_deterministic(debug_mode != 0)


def get_deterministic_debug_mode():
    """2 where use_deterministic_algorithms is switched on, else 0."""
    return 2 if _C.are_deterministic_algorithms_enabled() else 0


_kept = {"float32_matmul_precision": "highest", "warn_always": False}


def set_float32_matmul_precision(precision):
    """'highest', 'high' or 'medium' is accepted and kept: products of float32 are computed in float32."""
    if precision not in ("highest", "high", "medium"):
        import warnings
        warnings.warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has no effect.",
                      stacklevel=2)
        return
    _kept["float32_matmul_precision"] = precision


def get_float32_matmul_precision():
    """What set_float32_matmul_precision was given last: 'highest' at the beginning."""
    return _kept["float32_matmul_precision"]


def set_warn_always(b):
    """Accepted and kept: Python's filters decide how often a warning is shown."""
    if not isinstance(b, bool):
        raise TypeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _kept["warn_always"] = b


def is_warn_always_enabled():
    """What set_warn_always was given last."""
    return _kept["warn_always"]


def set_num_interop_threads(count):
    """Accepted: tandem has no second pool of threads."""
    if count <= 0:
        raise RuntimeError("Expected positive number of threads for inter-op parallelism")


def get_num_interop_threads():
    """1: operations of one thread run one after another."""
    return 1


_NOT_GIVEN = object()


class finfo:
    """What a floating dtype can hold: bits, eps, max, min, tiny, smallest_normal, resolution."""

    _FACTS = {"float16": (16, 10, 15, 1e-3), "bfloat16": (16, 7, 127, 1e-2), "float32": (32, 23, 127, 1e-6), "float64": (64, 52, 1023, 1e-15)}
    _PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
    _FLOAT8 = {"float8_e4m3fn": (0.125, 448.0, 2.0 ** -6), "float8_e4m3fnuz": (0.125, 240.0, 2.0 ** -7), "float8_e5m2": (0.25, 57344.0, 2.0 ** -14),
               "float8_e5m2fnuz": (0.25, 57344.0, 2.0 ** -15), "float8_e8m0fnu": (1.0, 2.0 ** 127, 2.0 ** -127)}

    def __init__(self, type=_NOT_GIVEN):
        dtype = _C.get_default_dtype() if type is _NOT_GIVEN else type
        if not isinstance(dtype, _C.dtype):
            raise TypeError(f"finfo(): argument 'type' (position 1) must be torch.dtype, not {type_name(dtype)}")
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        name = repr(dtype).rsplit(".", 1)[-1]
        self.dtype = self._PARTS.get(name, name)
        if name in self._FLOAT8:
            self.eps, self.max, self.tiny = self._FLOAT8[name]
            self.bits, self.resolution, self.smallest_normal = 8, 1.0, self.tiny
            self.min = -self.max if dtype.is_signed else self.tiny
            return
        self.bits, fraction, exponent, self.resolution = self._FACTS[self.dtype]
        self.eps = 2.0 ** -fraction
        self.max = (2.0 - self.eps) * 2.0 ** exponent
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - exponent)

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")


class iinfo:
    """What an integer dtype can hold: bits, max, min."""

    def __init__(self, type):
        if not isinstance(type, _C.dtype):
            raise TypeError(f"iinfo(): argument 'type' (position 1) must be torch.dtype, not {type_name(type)}")
        if type.is_floating_point or type.is_complex or type is _C.bool:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        self.dtype, self.bits = repr(type).rsplit(".", 1)[-1], 8 * type.itemsize
        self.min = -(2 ** (self.bits - 1)) if type.is_signed else 0
        self.max = 2 ** (self.bits - 1) - 1 if type.is_signed else 2 ** self.bits - 1

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
