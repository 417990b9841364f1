"""Windows for spectra: torch.hann_window and its like."""

import builtins
import math

from . import _C
from ._arguments import takes


def _window(name, length, periodic, shape, dtype, device, requires_grad):
    """Values of shape(n, last) for n from 0 to last; a periodic window leaves the last one out."""
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 2:
        return _C.ones(length, dtype=dtype, device=device, requires_grad=requires_grad)
    last = length if periodic else length - 1
    n = _C.arange(length, dtype=_C.float64, device=device)
    return shape(n, last).to(dtype).requires_grad_(requires_grad)


def _cosines(*weights):
    """w0 - w1 cos(2 pi n / last) + w2 cos(4 pi n / last)."""

    def shape(n, last):
        terms = [(-1) ** k * weight * _C.cos(n * (2 * math.pi * k / last)) for k, weight in enumerate(weights) if k]
        return builtins.sum(terms, _C.full_like(n, weights[0]))

    return shape


def _kaiser(beta):
    """I0(beta sqrt(1 - (2 n / last - 1)^2)) / I0(beta)."""

    def shape(n, last):
        from tandem.special import i0

        at = 1 - (n * (2 / last) - 1) ** 2
        return i0(beta * at.clamp(min=0).sqrt()) / i0(_C.tensor(float(beta), dtype=_C.float64, device=n.device))

    return shape


_OPTIONS = "*, dtype dtype=None, object layout=None, object device=None, object pin_memory=None, bool requires_grad=False"
_takes_length = takes(
    f"int window_length, {_OPTIONS}",
    f"int window_length, bool periodic, {_OPTIONS}",
    f"int window_length, bool periodic, float alpha, {_OPTIONS}",
    f"int window_length, bool periodic, float alpha, float beta, {_OPTIONS}",
)


@_takes_length
def hann_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A raised cosine: sin^2(pi n / last)."""
    return _window("hann_window", window_length, periodic, _cosines(0.5, 0.5), dtype, device, requires_grad)


@_takes_length
def hamming_window(
    window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    """alpha - beta cos(2 pi n / last)."""
    return _window("hamming_window", window_length, periodic, _cosines(alpha, beta), dtype, device, requires_grad)


@_takes_length
def blackman_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """0.42 - 0.5 cos(2 pi n / last) + 0.08 cos(4 pi n / last)."""
    return _window("blackman_window", window_length, periodic, _cosines(0.42, 0.5, 0.08), dtype, device, requires_grad)


@_takes_length
def bartlett_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A triangle: 1 - |2 n / last - 1|."""
    return _window("bartlett_window", window_length, periodic, lambda n, last: 1 - (n * (2 / last) - 1).abs(), dtype, device, requires_grad)


@takes(
    f"int window_length, {_OPTIONS}",
    f"int window_length, bool periodic, {_OPTIONS}",
    f"int window_length, bool periodic, float beta, {_OPTIONS}",
)
def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """I0(beta sqrt(1 - (2 n / last - 1)^2)) / I0(beta), with the modified Bessel function of order 0."""
    return _window("kaiser_window", window_length, periodic, _kaiser(beta), dtype, device, requires_grad)
