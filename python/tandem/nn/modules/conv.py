"""Convolutions and transposed convolutions over one, two and three dimensions."""

import math

from tandem import _C
from tandem.nn import init
from tandem.nn.modules.lazy import LazyModuleMixin
from tandem.nn.modules.module import Module
from tandem.nn.modules.utils import _ntuple, _reverse_repeat_tuple
from tandem.nn.parameter import Parameter, UninitializedParameter

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions have: sizes, weight and bias. Subclasses say `_dimensions`, `_transposed` and the operation."""

    _dimensions = 0
    _transposed = False

    def __init__(
        self, in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias, padding_mode, device, dtype
    ):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        tuple_of = _ntuple(self._dimensions, "tuple_of")
        stride = tuple_of(stride)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        else:
            padding = tuple_of(padding)
        if padding_mode not in _PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode={padding_mode!r}")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = tuple_of(kernel_size)
        self.stride = stride
        self.padding = padding
        self.dilation = tuple_of(dilation)
        self.transposed = self._transposed
        self.output_padding = tuple_of(output_padding)
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._paddings()
        self.weight = Parameter(_C.empty(self._weight_shape(), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_C.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _weight_shape(self):
        if self._transposed:
            return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def _paddings(self):
        """The padding of each side, the last dimension first, as `pad` takes it."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        paddings = [0] * (2 * self._dimensions)
        if self.padding == "same":
            for i, (dilation, size) in enumerate(zip(reversed(self.dilation), reversed(self.kernel_size))):
                total = dilation * (size - 1)
                paddings[2 * i] = total // 2
                paddings[2 * i + 1] = total - total // 2
        return paddings

    def reset_parameters(self):
        """Draws weight and bias anew, uniformly within 1 / sqrt(inputs of an element)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode, device, dtype
        )

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode != "zeros":
            input = _C.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            return self._operation(input, weight, bias, self.stride, 0, self.dilation, self.groups)
        return self._operation(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """Convolution of (N, C, L) or (C, L)."""

    _dimensions = 1
    _operation = staticmethod(_C.conv1d)


class Conv2d(_Conv):
    """Convolution of (N, C, H, W) or (C, H, W)."""

    _dimensions = 2
    _operation = staticmethod(_C.conv2d)


class Conv3d(_Conv):
    """Convolution of (N, C, D, H, W) or (C, D, H, W)."""

    _dimensions = 3
    _operation = staticmethod(_C.conv3d)


class _ConvTransposeNd(_ConvNd):
    _transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {self._plain_name()}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias, padding_mode, device, dtype
        )

    def _plain_name(self):
        return f"ConvTranspose{self._dimensions}d"

    def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None):
        """The output_padding by which the output has the size asked for."""
        if output_size is None:
            return self.output_padding
        sizes = list(output_size)
        if len(sizes) == input.dim() and input.dim() > num_spatial_dims:
            sizes = sizes[input.dim() - num_spatial_dims:]
        if len(sizes) != num_spatial_dims:
            raise ValueError(
                f"ConvTranspose{num_spatial_dims}D: for {input.dim()}D input, output_size must have {num_spatial_dims} or "
                f"{input.dim()} elements (got {len(output_size)})"
            )
        spatial = input.size()[input.dim() - num_spatial_dims:]
        dilation = dilation or (1,) * num_spatial_dims
        smallest = [
            (spatial[d] - 1) * stride[d] - 2 * padding[d] + dilation[d] * (kernel_size[d] - 1) + 1 for d in range(num_spatial_dims)
        ]
        largest = [smallest[d] + stride[d] - 1 for d in range(num_spatial_dims)]
        for size, low, high in zip(sizes, smallest, largest):
            if not low <= size <= high:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from {smallest} to {largest} (for an input of "
                    f"{spatial})"
                )
        return [size - low for size, low in zip(sizes, smallest)]

    def forward(self, input, output_size=None):
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, self._dimensions, self.dilation
        )
        return self._operation(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of (N, C, L) or (C, L)."""

    _dimensions = 1
    _operation = staticmethod(_C.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution of (N, C, H, W) or (C, H, W)."""

    _dimensions = 2
    _operation = staticmethod(_C.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution of (N, C, D, H, W) or (C, D, H, W)."""

    _dimensions = 3
    _operation = staticmethod(_C.conv_transpose3d)


class _LazyConvXdMixin(LazyModuleMixin):
    """The constructor without in_channels, which the first input has."""

    def __init__(self, out_channels, kernel_size, *args, bias=True, device=None, dtype=None, **kwargs):
        if len(args) > 4:  # behind stride, padding, dilation or output_padding, and groups stands bias
            bias, args = args[4], (*args[:4], False, *args[5:])
        else:
            kwargs["bias"] = False
        super().__init__(0, 0, kernel_size, *args, device=device, dtype=dtype, **kwargs)
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        """Draws weight and bias anew, once they have sizes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def _get_in_channels(self, input):
        spatial = self._dimensions
        if input.dim() not in (spatial + 1, spatial + 2):
            raise RuntimeError(
                f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to {type(self).__name__}, but got input of size: "
                f"{input.shape}"
            )
        return input.shape[input.dim() - spatial - 1]

    def initialize_parameters(self, input, *args, **kwargs):
        """Takes in_channels from the input."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        self.weight.materialize(self._weight_shape())
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class LazyConv1d(_LazyConvXdMixin, Conv1d):
    """Conv1d that learns in_channels from the first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvXdMixin, Conv2d):
    """Conv2d that learns in_channels from the first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvXdMixin, Conv3d):
    """Conv3d that learns in_channels from the first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvXdMixin, ConvTranspose1d):
    """ConvTranspose1d that learns in_channels from the first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvXdMixin, ConvTranspose2d):
    """ConvTranspose2d that learns in_channels from the first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvXdMixin, ConvTranspose3d):
    """ConvTranspose3d that learns in_channels from the first input."""

    cls_to_become = ConvTranspose3d
