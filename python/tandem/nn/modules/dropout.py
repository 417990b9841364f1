"""Dropout layers; they work in training mode only."""

from tandem import _C
from tandem.nn import functional as F
from tandem.nn.modules.module import Module

_dropout = _C.dropout


class _DropoutNd(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input):
        return self._operation(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Makes elements zero with probability p and scales the others up."""

    def forward(self, input):
        if self.inplace:
            return _C.dropout_(input, self.p, self.training)
        return _dropout(input, self.p, self.training)


class Dropout1d(_DropoutNd):
    """Makes whole channels of (N, C, L) zero."""

    _operation = staticmethod(F.dropout1d)


class Dropout2d(_DropoutNd):
    """Makes whole channels of (N, C, H, W) zero."""

    _operation = staticmethod(F.dropout2d)


class Dropout3d(_DropoutNd):
    """Makes whole channels of (N, C, D, H, W) zero."""

    _operation = staticmethod(F.dropout3d)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance after SELU."""

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels."""

    def forward(self, input):
        return F.feature_alpha_dropout(input, self.p, self.training)
