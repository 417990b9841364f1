"""Functions of each element, by the array API standard's names. Numbers of Python take the dtype of the array beside them."""

import tandem
from tandem import _C
from tandem.array_api._dtypes import promoted


def _of_one(operation):
    def function(x, /):
        return operation(x)
    return function


def _of_two(operation):
    def function(x1, x2, /):
        return operation(*promoted(x1, x2))
    return function


_OF_ONE = ("abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log log1p "
           "log2 log10 logical_not negative positive real reciprocal round signbit sin sinh square sqrt tan tanh trunc").split()
_OF_TWO = ("add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal greater "
           "greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply nextafter "
           "not_equal pow subtract").split()
_OTHERWISE = {"bitwise_invert": "bitwise_not", "equal": "eq"}  # what tandem calls them

for _makes, _names, _of in ((_of_one, _OF_ONE, "each element"), (_of_two, _OF_TWO, "each pair of elements")):
    for _name in _names:
        _function = _makes(getattr(tandem, _OTHERWISE.get(_name, _name)))
        _function.__name__ = _function.__qualname__ = _name
        _function.__doc__ = f"{_name} of {_of}."
        globals()[_name] = _function


def floor_divide(x1, x2, /):
    """The quotients, rounded down; with an infinity those of divide, as the standard has it. The operator // gives PyTorch's NaN and -1."""
    x1, x2 = promoted(x1, x2)
    quotients = _C.floor_divide(x1, x2)
    return _C.where(_C.isinf(x1) | _C.isinf(x2), x1 / x2, quotients) if quotients.is_floating_point() else quotients


def remainder(x1, x2, /):
    """What is left of division, with the sign of x2. So have zeros, as the standard has it; those of the operator % have PyTorch's."""
    x1, x2 = promoted(x1, x2)
    rest = _C.remainder(x1, x2)
    return _C.where(rest == 0, _C.copysign(rest, x2), rest) if rest.is_floating_point() else rest


def sign(x, /):
    """-1, 0 or 1 for each element, NaN for NaN."""
    signs = _C.sign(x)
    return _C.where(_C.isnan(x), x, signs) if x.is_floating_point() else signs


def clip(x, /, min=None, max=None):
    """The elements, not below min and not above max; numbers, or arrays that broadcast with x. The dtype is x's."""
    result = x
    for bound, limit in ((min, _C.maximum), (max, _C.minimum)):
        if bound is not None:
            result = limit(result, _within(bound, x))
    return result.clone() if result is x else result


def _within(bound, x):
    """The bound as an array of x's dtype."""
    if isinstance(bound, _C.Tensor):
        return bound.to(x.dtype)
    if not x.is_floating_point() and isinstance(bound, int):
        facts = tandem.iinfo(x.dtype)
        bound = facts.min if bound < facts.min else facts.max if bound > facts.max else bound
    return _C.tensor(bound, dtype=x.dtype, device=x.device)
