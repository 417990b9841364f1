"""Frequencies and shifts by the array API standard's extension for Fourier transforms. The transforms need complex numbers."""

from tandem import fft as _fft


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of a transform of n samples at distances d: 0 and up to below half of 1/d, then the negative ones."""
    return _fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of a transform of n real samples at distances d: 0 and up to half of 1/d."""
    return _fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x, /, *, axes=None):
    """The frequency 0 moved from the beginning of each axis, or of these, to its middle."""
    return _fft.fftshift(x, axes)


def ifftshift(x, /, *, axes=None):
    """The frequency 0 moved from the middle back to the beginning."""
    return _fft.ifftshift(x, axes)
