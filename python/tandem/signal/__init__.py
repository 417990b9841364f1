"""Signals: `tandem.signal.windows` has windows for spectra."""

from tandem.signal import windows

__all__ = ["windows"]
