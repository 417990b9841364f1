"""Sums, means, extremes and truth over axes, by the array API standard's names and arguments."""

import tandem
from tandem import _C


def _axes(axis, ndim):
    """The axes as a tuple; None stands for all of them."""
    return tuple(range(ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)


def _over(operation, name, doc):
    """A reduction of arrays over any axes; over none it is the array itself."""
    def function(x, /, *, axis=None, keepdims=False):
        axes = _axes(axis, x.ndim)
        return operation(x, axes, keepdims) if axes else x.clone()
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


max = _over(_C.amax, "max", "The largest element over these axes.")
min = _over(_C.amin, "min", "The smallest element over these axes.")
mean = _over(_C.mean, "mean", "The mean over these axes.")


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum over these axes; integers and bools are added up as int64."""
    dtype = _total_dtype(x, dtype)
    axes = _axes(axis, x.ndim)
    return _C.sum(x, axes, keepdims, dtype=dtype) if axes else _in_own_memory(x, dtype)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product over these axes; integers and bools are multiplied as int64."""
    dtype = _total_dtype(x, dtype)
    axes = sorted((a % x.ndim for a in _axes(axis, x.ndim)), reverse=True)
    if not axes:
        return _in_own_memory(x, dtype)
    for place in axes:
        x = _C.prod(x, place, keepdims, dtype=dtype)
    return x


def _total_dtype(x, dtype):
    return dtype if dtype is not None else x.dtype if x.is_floating_point() else _C.int64


def _in_own_memory(x, dtype):
    return x.clone() if x.dtype is dtype else x.to(dtype)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance over these axes; `correction` is taken from the number of elements."""
    axes = _axes(axis, x.ndim)
    return _C.var(x, axes, correction=correction, keepdim=keepdims) if axes else x - x  # zeros, and NaN for what is not finite


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The standard deviation over these axes; `correction` is taken from the number of elements."""
    return _C.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def all(x, /, *, axis=None, keepdims=False):
    """Whether all elements over these axes are true."""
    axes = _axes(axis, x.ndim)
    return _C.all(x.to(_C.bool), axes, keepdims) if axes else x.to(_C.bool)


def any(x, /, *, axis=None, keepdims=False):
    """Whether an element over these axes is true."""
    axes = _axes(axis, x.ndim)
    return _C.any(x.to(_C.bool), axes, keepdims) if axes else x.to(_C.bool)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements over these axes are not zero."""
    return sum(x.to(_C.bool), axis=axis, keepdims=keepdims)


def _cumulative(operation, start, x, axis, dtype, include_initial):
    if axis is None:
        if x.ndim != 1:
            raise ValueError("axis has to be given where x has other than one dimension")
        axis = 0
    axis = axis % x.ndim
    totals = operation(x, axis, dtype=_total_dtype(x, dtype))
    if include_initial:
        shape = [1 if place == axis else size for place, size in enumerate(x.shape)]
        totals = _C.cat([_C.full(shape, start, dtype=totals.dtype, device=x.device), totals], axis)
    return totals


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """The sums up to each element. include_initial: with a zero before the first."""
    return _cumulative(_C.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """The products up to each element. include_initial: with a one before the first."""
    return _cumulative(_C.cumprod, 1, x, axis, dtype, include_initial)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbours, n times over; prepend and append are put at the ends first."""
    return tandem.diff(x, n=n, dim=axis, prepend=prepend, append=append)
