"""Activations. Those without an `inplace` argument are the operations themselves."""

import warnings

from tandem import _C

sigmoid = _C.sigmoid
tanh = _C.tanh
gelu = _C.gelu
glu = _C.glu
prelu = _C.prelu
logsigmoid = _C.logsigmoid
softplus = _C.softplus
softshrink = _C.softshrink
hardshrink = _C.hardshrink
softsign = _C.softsign
tanhshrink = _C.tanhshrink

relu_ = _C.relu_
elu_ = _C.elu_
celu_ = _C.celu_
selu_ = _C.selu_
leaky_relu_ = _C.leaky_relu_
rrelu_ = _C.rrelu_
hardtanh_ = _C.hardtanh_
threshold_ = _C.threshold_

_relu, _softmax, _log_softmax = _C.relu, _C.softmax, _C.log_softmax


def relu(input, inplace=False):
    """The larger of 0 and each element."""
    return relu_(input) if inplace else _relu(input)


def relu6(input, inplace=False):
    """Each element within [0, 6]."""
    return _C.relu6_(input) if inplace else _C.relu6(input)


def silu(input, inplace=False):
    """x * sigmoid(x)."""
    return _C.silu_(input) if inplace else _C.silu(input)


def mish(input, inplace=False):
    """x * tanh(softplus(x))."""
    return _C.mish_(input) if inplace else _C.mish(input)


def hardswish(input, inplace=False):
    """x * relu6(x + 3) / 6."""
    return _C.hardswish_(input) if inplace else _C.hardswish(input)


def hardsigmoid(input, inplace=False):
    """relu6(x + 3) / 6."""
    return _C.hardsigmoid_(input) if inplace else _C.hardsigmoid(input)


def selu(input, inplace=False):
    """A scaled elu that keeps mean and variance."""
    return selu_(input) if inplace else _C.selu(input)


def elu(input, alpha=1.0, inplace=False):
    """x where positive, else alpha * (exp(x) - 1)."""
    return elu_(input, alpha) if inplace else _C.elu(input, alpha)


def celu(input, alpha=1.0, inplace=False):
    """x where positive, else alpha * (exp(x / alpha) - 1)."""
    return celu_(input, alpha) if inplace else _C.celu(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where positive, else x times the slope."""
    return leaky_relu_(input, negative_slope) if inplace else _C.leaky_relu(input, negative_slope)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """leaky_relu with a slope drawn for each element in training, and the middle of its range otherwise."""
    return rrelu_(input, lower, upper, training) if inplace else _C.rrelu(input, lower, upper, training)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """Each element within [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return hardtanh_(input, min_val, max_val) if inplace else _C.hardtanh(input, min_val, max_val)


def threshold(input, threshold, value, inplace=False):
    """x where it is above the threshold, else the value."""
    return threshold_(input, threshold, value) if inplace else _C.threshold(input, threshold, value)


def _implicit_dim(name, dimensions, stacklevel):
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if dimensions in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) over its sum along `dim`; computed in `dtype` if that is given."""
    if dim is None:
        dim = _implicit_dim("softmax", input.dim(), _stacklevel)
    return _softmax(input, dim) if dtype is None else _softmax(input, dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -x."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim(), _stacklevel)
    return _softmax(-input, dim) if dtype is None else _softmax(-input, dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of softmax."""
    if dim is None:
        dim = _implicit_dim("log_softmax", input.dim(), _stacklevel)
    return _log_softmax(input, dim) if dtype is None else _log_softmax(input, dim, dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A random choice that gradients pass through; with `hard` it is one-hot."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    return _C.gumbel_softmax(logits, tau, hard, dim)
