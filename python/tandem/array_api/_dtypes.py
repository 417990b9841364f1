"""Dtypes as the array API standard has them: promotion, casts, kinds, and what a dtype can hold."""

import collections

import tandem
from tandem import _C

_SIGNED, _UNSIGNED, _FLOATING = (_C.int8, _C.int16, _C.int32, _C.int64), (_C.uint8,), (_C.float32, _C.float64)
KINDS = {
    "bool": (_C.bool,), "signed integer": _SIGNED, "unsigned integer": _UNSIGNED, "integral": _SIGNED + _UNSIGNED,
    "real floating": _FLOATING, "complex floating": (), "numeric": _SIGNED + _UNSIGNED + _FLOATING,
}

FloatFacts = collections.namedtuple("finfo_object", "bits eps max min smallest_normal dtype")
IntFacts = collections.namedtuple("iinfo_object", "bits max min dtype")


def _dtype_of(value):
    return value.dtype if isinstance(value, _C.Tensor) else value


def _with_scalar(dtype, scalar):
    """The dtype of an operation between an array and a number of Python: the array's, unless it cannot hold numbers of that kind."""
    if isinstance(scalar, bool):
        return dtype
    if isinstance(scalar, int):
        return _C.int64 if dtype is _C.bool else dtype
    if isinstance(scalar, float):
        return dtype if dtype.is_floating_point else _C.get_default_dtype()
    raise TypeError(f"expected an array, a dtype or a real number, not {type(scalar).__name__}")


def result_type(*arrays_and_dtypes):
    """The dtype that arrays, dtypes and numbers of Python have together. Dimensions do not matter, as they do for tandem.result_type."""
    dtypes = [_dtype_of(value) for value in arrays_and_dtypes if isinstance(value, (_C.Tensor, _C.dtype))]
    scalars = [value for value in arrays_and_dtypes if not isinstance(value, (_C.Tensor, _C.dtype))]
    if not dtypes:
        raise ValueError("result_type: at least one argument has to be an array or a dtype")
    result = dtypes[0]
    for dtype in dtypes[1:]:
        result = _C.promote_types(result, dtype)
    for scalar in scalars:
        result = _with_scalar(result, scalar)
    return result


def promoted(*values):
    """The arrays and numbers as arrays of their dtype in common, on the device of the arrays."""
    arrays = [value for value in values if isinstance(value, _C.Tensor)]
    if not arrays:
        raise TypeError("at least one argument has to be an array")
    dtype = result_type(*values)
    return [value.to(dtype) if isinstance(value, _C.Tensor) else _C.tensor(value, dtype=dtype, device=arrays[0].device) for value in values]


def astype(x, dtype, /, *, copy=True, device=None):
    """The elements as another dtype; without `copy` the array itself where nothing changes."""
    made = x.to(dtype) if device is None else x.to(device, dtype)
    return made.clone() if copy and made is x else made


def can_cast(from_, to, /):
    """Whether promotion leads from one dtype, or that of an array, to the other."""
    from_ = _dtype_of(from_)
    return _C.promote_types(from_, to) is to


def finfo(type, /):
    """What a floating dtype, or that of an array, can hold."""
    dtype = _dtype_of(type)
    facts = tandem.finfo(dtype)
    return FloatFacts(facts.bits, facts.eps, facts.max, facts.min, facts.smallest_normal, dtype)


def iinfo(type, /):
    """What an integer dtype, or that of an array, can hold."""
    dtype = _dtype_of(type)
    facts = tandem.iinfo(dtype)
    return IntFacts(facts.bits, facts.max, facts.min, dtype)


def isdtype(dtype, kind):
    """Whether the dtype is of this kind: a dtype, one of the standard's words, or a tuple of them."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"unknown kind of dtype: '{kind}'; there are {', '.join(KINDS)}")
        return dtype in KINDS[kind]
    return dtype is kind
