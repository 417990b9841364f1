"""Windows for spectra and filters, by the names of scipy.signal.windows: `M` values that are largest, 1, in the middle.

All take sym (whether the window is symmetric, else it is one period of a longer one, for spectra), dtype (float32 or float64), layout,
device and requires_grad. M is 0 or more; a window of length 1 is 1."""

import math
import operator

from tandem import _C
from tandem._formats import strided
from tandem._windows import _cosines, _kaiser, _window

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _made(name, M, shape, sym, dtype, layout, device, requires_grad):
    """The window of values shape(n, last) for n from 0 to M - 1, where `last` is the n of the last value of the symmetric window."""
    if operator.index(M) < 0:  # a TypeError for what is no whole number
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if dtype not in (_C.float32, _C.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return _window(name, M, not sym, shape, dtype, device, requires_grad)


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """exp(-|n - center| / tau). center: where it is 1, the middle if None, as it must be with sym. tau: how slowly it falls, above 0."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def shape(n, last):
        return _C.exp(-(n - (last / 2 if center is None else center)).abs() / tau)

    return _made("exponential", M, shape, sym, dtype, layout, device, requires_grad)


def cosine(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """The half wave sin(pi (n + 1/2) / (last + 1))."""
    return _made("cosine", M, lambda n, last: _C.sin((n + 0.5) * (math.pi / (last + 1))), sym, dtype, layout, device, requires_grad)


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """exp(-(n - last / 2)^2 / (2 std^2)). std: the standard deviation, above 0."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _made("gaussian", M, lambda n, last: _C.exp(-(((n - last / 2) / std) ** 2) / 2), sym, dtype, layout, device, requires_grad)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """I0(beta sqrt(1 - (2 n / last - 1)^2)) / I0(beta), with the modified Bessel function of order 0. beta: 0 or more, 0 is a rectangle."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _made("kaiser", M, _kaiser(beta), sym, dtype, layout, device, requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """0.54 - 0.46 cos(2 pi n / last)."""
    return _made("general_cosine", M, _cosines(0.54, 0.46), sym, dtype, layout, device, requires_grad)


def hann(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """0.5 - 0.5 cos(2 pi n / last), which is sin^2(pi n / last)."""
    return _made("general_cosine", M, _cosines(0.5, 0.5), sym, dtype, layout, device, requires_grad)


def blackman(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """0.42 - 0.5 cos(2 pi n / last) + 0.08 cos(4 pi n / last)."""
    return _made("blackman", M, _cosines(0.42, 0.5, 0.08), sym, dtype, layout, device, requires_grad)


def bartlett(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """A triangle: 1 - |2 n / last - 1|."""
    return _made("bartlett", M, lambda n, last: 1 - (n * (2 / last) - 1).abs(), sym, dtype, layout, device, requires_grad)


def general_cosine(M, *, a, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """The sum over i of (-1)^i a[i] cos(2 pi i n / last). a: the weights, a list or tuple of at least one."""
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return _made("general_cosine", M, _cosines(*a), sym, dtype, layout, device, requires_grad)


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """alpha - (1 - alpha) cos(2 pi n / last)."""
    return _made("general_cosine", M, _cosines(alpha, 1 - alpha), sym, dtype, layout, device, requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """Nuttall's window of four terms, the one whose side lobes are lowest: 0.3635819, 0.4891775, 0.1365995 and 0.0106411."""
    return _made("general_cosine", M, _cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411), sym, dtype, layout, device, requires_grad)
