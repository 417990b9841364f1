"""Padding layers for one, two and three dimensions."""

from tandem import _C
from tandem.nn.modules.module import Module
from tandem.nn.modules.utils import _ntuple


class _PadNd(Module):
    """Pads by an int on every side, or by a tuple of both sides of each dimension, the last one first."""

    _mode = "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = _ntuple(2 * self._dimensions, "padding")(padding)

    def forward(self, input):
        return _C.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return _C.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class _CircularPadNd(_PadNd):
    _mode = "circular"


class ConstantPad1d(_ConstantPadNd):
    """Pads (N, C, L) with a value."""

    _dimensions = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads (N, C, H, W) with a value."""

    _dimensions = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads (N, C, D, H, W) with a value."""

    _dimensions = 3


class ZeroPad1d(_ZeroPadNd):
    """Pads (N, C, L) with zeros."""

    _dimensions = 1


class ZeroPad2d(_ZeroPadNd):
    """Pads (N, C, H, W) with zeros."""

    _dimensions = 2


class ZeroPad3d(_ZeroPadNd):
    """Pads (N, C, D, H, W) with zeros."""

    _dimensions = 3


class ReflectionPad1d(_ReflectionPadNd):
    """Pads (N, C, L) with its mirror image."""

    _dimensions = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pads (N, C, H, W) with its mirror image."""

    _dimensions = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pads (N, C, D, H, W) with its mirror image."""

    _dimensions = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Pads (N, C, L) with the elements at its ends."""

    _dimensions = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pads (N, C, H, W) with the elements at its edges."""

    _dimensions = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pads (N, C, D, H, W) with the elements at its edges."""

    _dimensions = 3


class CircularPad1d(_CircularPadNd):
    """Pads (N, C, L) with the elements of the other end."""

    _dimensions = 1


class CircularPad2d(_CircularPadNd):
    """Pads (N, C, H, W) with the elements of the other side."""

    _dimensions = 2


class CircularPad3d(_CircularPadNd):
    """Pads (N, C, D, H, W) with the elements of the other side."""

    _dimensions = 3
