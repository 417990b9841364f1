"""Gradients of convolutions by themselves: of the input from its size, and of the weight from its size."""

from tandem import _C
from tandem._grad_mode import enable_grad

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(convolve, input, weight, by, grad_output, *options):
    """The gradient by one of the two, which has a size and no values that matter."""
    with enable_grad():
        output = convolve(input, weight, None, *options)
    return _C._grad([output], [by], [grad_output], False, False, False)[0]


def _of_input(convolve, input_size, weight, grad_output, *options):
    input = _C.zeros(*input_size, dtype=weight.dtype, device=weight.device, requires_grad=True)
    return _gradient(convolve, input, weight.detach(), input, grad_output.detach(), *options)


def _of_weight(convolve, input, weight_size, grad_output, *options):
    weight = _C.zeros(*weight_size, dtype=input.dtype, device=input.device, requires_grad=True)
    return _gradient(convolve, input.detach(), weight, weight, grad_output.detach(), *options)


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv1d by its input, which is of the given size."""
    return _of_input(_C.conv1d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv1d by its weight, which is of the given size."""
    return _of_weight(_C.conv1d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d by its input, which is of the given size."""
    return _of_input(_C.conv2d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d by its weight, which is of the given size."""
    return _of_weight(_C.conv2d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv3d by its input, which is of the given size."""
    return _of_input(_C.conv3d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv3d by its weight, which is of the given size."""
    return _of_weight(_C.conv3d, input, weight_size, grad_output, stride, padding, dilation, groups)
