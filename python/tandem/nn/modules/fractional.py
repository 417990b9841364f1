"""Fractional max pooling layers: the places of their windows are drawn anew in each call."""

from tandem.nn import functional as F
from tandem.nn.modules.module import Module
from tandem.nn.modules.utils import _pair, _triple


class _FractionalMaxPoolNd(Module):
    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        name = type(self).__name__
        self.kernel_size = self._tuple_of(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else self._tuple_of(output_size)
        self.output_ratio = None if output_ratio is None else self._tuple_of(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        return self._operation(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest element of each window of (N, C, H, W) or (C, H, W); output_size windows, or output_ratio of the input's size."""

    _tuple_of = staticmethod(_pair)
    _operation = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W); output_size windows, or output_ratio of the input's size."""

    _tuple_of = staticmethod(_triple)
    _operation = staticmethod(F.fractional_max_pool3d)
