"""torch.fft as far as real numbers go: frequencies and shifts. The transforms have complex results, and tandem has no complex dtypes."""

import math

from . import _C
from ._arguments import into as _into
from ._formats import strided


def _frequencies(whole, n, d, out, dtype, requires_grad):
    """The whole numbers / (n d), as floating numbers."""
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise RuntimeError("fftfreq requires a floating point or complex dtype")
    result = whole.to(dtype) * (1.0 / (n * d) if n * d else math.inf)
    return result.requires_grad_(requires_grad) if out is None else _into(out, result, "fft_fftfreq", same_dtype=False)


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=strided, device=None, requires_grad=False):
    """The frequencies of a transform of n samples at distances d: 0 and up to below half of 1/d, then the negative ones."""
    whole = _C.cat([_C.arange(0, (n + 1) // 2, device=device), _C.arange(-(n // 2), 0, device=device)])
    return _frequencies(whole, n, d, out, dtype, requires_grad)


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=strided, device=None, requires_grad=False):
    """The frequencies of a transform of n real samples at distances d: 0 and up to half of 1/d."""
    return _frequencies(_C.arange(0, n // 2 + 1, device=device), n, d, out, dtype, requires_grad)


def _shifted(input, dim, places):
    dims = tuple(range(input.dim())) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    return _C.roll(input, tuple(places(input.size(d)) for d in dims), dims) if dims else input.clone()


def fftshift(input, dim=None):
    """The frequency 0 moved from the beginning of each dimension, or of these, to its middle."""
    return _shifted(input, dim, lambda size: size // 2)


def ifftshift(input, dim=None):
    """The frequency 0 moved from the middle back to the beginning."""
    return _shifted(input, dim, lambda size: -(size // 2))


def _transform(name):
    def function(input, *arguments, **keywords):
        raise NotImplementedError(f"{name}: transforms have complex results, and tandem has no complex dtypes")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Not there: there are no complex dtypes. The name can be imported, so that a module that needs it elsewhere runs."
    return function


fft, ifft, fft2, ifft2, fftn, ifftn = map(_transform, ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn"))
rfft, irfft, rfft2, irfft2, rfftn, irfftn = map(_transform, ("rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn"))
hfft, ihfft, hfft2, ihfft2, hfftn, ihfftn = map(_transform, ("hfft", "ihfft", "hfft2", "ihfft2", "hfftn", "ihfftn"))
