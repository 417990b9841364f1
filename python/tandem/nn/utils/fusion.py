"""A convolution or linear layer and the batch normalization behind it as one layer, for evaluation."""

import copy

from tandem.nn.parameter import Parameter


def _scale(bn_w, bn_rv, bn_eps):
    scale = (bn_rv + bn_eps).rsqrt()
    return scale if bn_w is None else bn_w * scale


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Weight and bias of a convolution that does what one with conv_w and conv_b and a normalization do together."""
    scale = _scale(bn_w, bn_rv, bn_eps)
    shape = [1, -1] if transpose else [-1, 1]
    weight = (conv_w * scale.reshape(shape + [1] * (conv_w.dim() - 2))).to(conv_w.dtype)
    bias = (-bn_rm if conv_b is None else conv_b - bn_rm) * scale
    if bn_b is not None:
        bias = bias + bn_b
    return Parameter(weight.detach(), conv_w.requires_grad), Parameter(
        bias.to(conv_w.dtype if conv_b is None else conv_b.dtype).detach(), conv_w.requires_grad if conv_b is None else conv_b.requires_grad
    )


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of the convolution that does the normalization too. Both must be in evaluation mode."""
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Weight and bias of a linear layer that does what one with linear_w and linear_b and a normalization do together."""
    scale = _scale(bn_w, bn_rv, bn_eps)
    weight = linear_w * scale.unsqueeze(-1).to(linear_w.dtype)
    bias = (-bn_rm if linear_b is None else linear_b - bn_rm) * scale
    if bn_b is not None:
        bias = bias + bn_b
    return Parameter(weight.detach(), linear_w.requires_grad), Parameter(bias.detach(), linear_w.requires_grad)


def fuse_linear_bn_eval(linear, bn):
    """A copy of the linear layer that does the normalization too. Both must be in evaluation mode."""
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused
