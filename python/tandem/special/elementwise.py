"""What the functions of this folder have in common: values computed in float64 without a history, with a derivative in terms of others."""

import tandem
from tandem import _arguments, _C


def floating(input):
    """The tensor, integers in the default dtype."""
    return input if input.is_floating_point() else input.to(_C.get_default_dtype())


def into(result, out):
    """The result, in `out` where that is given."""
    return _arguments.into(out, result, "special", same_dtype=False)


def choose(*cases):
    """The value of the first pair (condition, value) whose condition holds; the last value stands alone."""
    result = cases[-1]
    for condition, value in reversed(cases[:-1]):
        result = _C.where(condition, value if isinstance(value, _C.Tensor) else _C.full_like(result, value), result)
    return result


class _Elementwise(tandem.autograd.Function):
    """value(x), whose derivative is slope(x)."""

    @staticmethod
    def forward(ctx, x, value, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return value(x.detach().to(_C.float64)).to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.slope(x), None, None


def elementwise(name, value, slope, doc):
    """A function of a tensor from its value in float64 and its derivative; slope None: without one."""

    def function(input, *, out=None):
        x = floating(input)
        if slope is None:
            return into(value(x.detach().to(_C.float64)).to(x.dtype), out)
        return into(_Elementwise.apply(x, value, slope), out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function
