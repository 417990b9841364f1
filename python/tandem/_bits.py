"""Operations on the bits of floating numbers: nextafter and frexp."""

from . import _C
from ._arguments import into, takes
from ._functions import result_type
from ._results import named_result

_INTEGERS = {_C.float16: _C.int16, _C.bfloat16: _C.int16, _C.float32: _C.int32, _C.float64: _C.int64}  # as wide
_FIELDS = {_C.float32: (23, 127), _C.float64: (52, 1023)}  # bits of the fraction, bias of the exponent
_NAMES = {_C.bool: "Bool", _C.uint8: "Byte", _C.int8: "Char", _C.int16: "Short", _C.int32: "Int", _C.int64: "Long"}

Frexp = named_result("frexp", ["mantissa", "exponent"])


@takes("Tensor input, Tensor other, *, Tensor out=None")
def nextafter(input, other, *, out=None):
    """The next number that the dtype has after input's elements, towards other's; without a gradient."""
    dtype = result_type(input, other)
    if dtype in _NAMES:
        raise NotImplementedError(f"\"nextafter\" not implemented for '{_NAMES[dtype]}': it takes floating numbers")
    integers = _INTEGERS[dtype]
    x, y = _C.broadcast_tensors([input.detach().to(dtype), other.detach().to(dtype)])
    bits = x.view(integers)
    away = (y > x) == (x > 0)  # from zero: the bits of a larger magnitude are those of a larger integer, for both signs
    stepped = _C.where(away, bits + 1, bits - 1).view(dtype)
    smallest = _C.ones((), dtype=integers, device=x.device).view(dtype)
    result = _C.where(x == 0, _C.copysign(smallest, y), stepped)
    result = _C.where(x == y, y, _C.where(_C.isnan(x) | _C.isnan(y), x + y, result))
    return into(out, result, "nextafter")


@takes("Tensor input, *, Tensors out=None")
def frexp(input, *, out=None):
    """mantissa and exponent of input = mantissa * 2 ** exponent, the mantissa in [0.5, 1), the exponent as int32."""
    if not input.is_floating_point():
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    if input.dtype in _FIELDS:
        mantissa, exponent = _parts(input)
    else:  # two bytes: float32 has all their numbers
        mantissa, exponent = _parts(input.float())
        mantissa = mantissa.to(input.dtype)
    return Frexp(mantissa, exponent) if out is None else Frexp(into(out[0], mantissa, "frexp"), into(out[1], exponent, "frexp"))


def _parts(input):
    """frexp of float32 and float64."""
    fraction, bias = _FIELDS[input.dtype]
    ordinary = _C.isfinite(input) & (input != 0)
    # What is below the smallest normal number has no exponent of its own: it is made larger first.
    tiny = ordinary & (input.abs() < 2.0 ** (1 - bias))
    larger = _C.where(tiny, input.detach() * 2.0 ** (fraction + 1), input.detach())
    field = _C.bitwise_and(_C.bitwise_right_shift(larger.view(_INTEGERS[input.dtype]), fraction), 2 * bias + 1)
    exponent = _C.where(ordinary, field - (bias - 1) - tiny * (fraction + 1), _C.zeros_like(field)).to(_C.int32)
    half = exponent // 2  # in two steps: 2 ** exponent alone can be out of range
    return input * _C.exp2(-half.to(input.dtype)) * _C.exp2((half - exponent).to(input.dtype)), exponent
