"""First values for parameters. Each function fills the tensor in place, records nothing for gradients, and returns the tensor."""

import functools
import math
import warnings

from tandem import _C

_CONVOLUTIONS = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")


def _without_grad(function):
    @functools.wraps(function)
    def call(tensor, *args, **kwargs):
        previous = _C._set_grad_enabled(False)
        try:
            return function(tensor, *args, **kwargs)
        finally:
            _C._set_grad_enabled(previous)

    return call


def calculate_gain(nonlinearity, param=None):
    """The factor by which a nonlinearity's first weights are larger: 5/3 for tanh, sqrt(2) for relu, and so on."""
    if nonlinearity in _CONVOLUTIONS or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor):
    """How many inputs and outputs an element of a weight has."""
    sizes = tensor.shape
    if len(sizes) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(sizes[2:])
    return sizes[1] * field, sizes[0] * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def _has_no_elements(tensor):
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return True
    return False


def _uniform(tensor, a, b, generator):
    return tensor.uniform_(a, b) if generator is None else tensor.uniform_(a, b, generator=generator)


def _normal(tensor, mean, std, generator):
    return tensor.normal_(mean, std) if generator is None else tensor.normal_(mean, std, generator=generator)


@_without_grad
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fills with numbers uniform in [a, b)."""
    return _uniform(tensor, a, b, generator)


@_without_grad
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Fills with normal numbers."""
    return _normal(tensor, mean, std, generator)


@_without_grad
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Fills with normal numbers within [a, b]; those outside are drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.", stacklevel=3
        )
    low, high = (a - mean) / std, (b - mean) / std
    inside = (math.erf(high / math.sqrt(2.0)) - math.erf(low / math.sqrt(2.0))) / 2.0
    if inside > 0.3:
        _draw_normal_within(tensor, mean, std, a, b, generator)
    else:
        _draw_uniform_and_accept(tensor, low, high, generator)
        tensor.mul_(std).add_(mean).clamp_(min=a, max=b)
    return tensor


def _draw_normal_within(tensor, mean, std, a, b, generator):
    """Normal numbers, until all are within [a, b]."""
    _normal(tensor, mean, std, generator)
    outside = (tensor < a) | (tensor > b)
    while outside.any():
        tensor.copy_(_C.where(outside, _normal(_C.empty_like(tensor), mean, std, generator), tensor))
        outside = (tensor < a) | (tensor > b)


def _draw_uniform_and_accept(tensor, low, high, generator):
    """Standard normal numbers within [low, high], few of all there are: uniform ones, each kept with its density over the largest one."""
    nearest = low if low > 0 else high if high < 0 else 0.0
    missing = None
    while missing is None or missing.any():
        proposed = _uniform(_C.empty_like(tensor), low, high, generator)
        density = ((nearest * nearest - proposed * proposed) / 2).exp()
        accepted = _uniform(_C.empty_like(tensor), 0.0, 1.0, generator) <= density
        if missing is None:
            tensor.copy_(proposed)
            missing = ~accepted
        else:
            tensor.copy_(_C.where(missing & accepted, proposed, tensor))
            missing = missing & ~accepted


@_without_grad
def constant_(tensor, val):
    """Fills with one value."""
    return tensor.fill_(val)


@_without_grad
def ones_(tensor):
    """Fills with ones."""
    return tensor.fill_(1.0)


@_without_grad
def zeros_(tensor):
    """Fills with zeros."""
    return tensor.zero_()


@_without_grad
def eye_(tensor):
    """Makes a matrix the identity."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(_C.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


@_without_grad
def dirac_(tensor, groups=1):
    """Makes a convolution's weight (3 to 5 dimensions) hand its input channels on, in each group."""
    dimensions = tensor.ndim
    if dimensions not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.size()
    if sizes[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = sizes[0] // groups
    tensor.zero_()
    centre = tuple(size // 2 for size in sizes[2:])
    for group in range(groups):
        for channel in range(min(per_group, sizes[1])):
            tensor[(group * per_group + channel, channel, *centre)] = 1
    return tensor


@_without_grad
def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Fills uniformly within gain * sqrt(6 / (fan_in + fan_out))."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return _uniform(tensor, -bound, bound, generator)


@_without_grad
def xavier_normal_(tensor, gain=1.0, generator=None):
    """Fills with normal numbers of deviation gain * sqrt(2 / (fan_in + fan_out))."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return _normal(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


@_without_grad
def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fills uniformly within gain * sqrt(3 / fan); `a` is leaky_relu's slope."""
    if _has_no_elements(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return _uniform(tensor, -bound, bound, generator)


@_without_grad
def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fills with normal numbers of deviation gain / sqrt(fan); `a` is leaky_relu's slope."""
    if _has_no_elements(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return _normal(tensor, 0, std, generator)


@_without_grad
def orthogonal_(tensor, gain=1, generator=None):
    """Makes the rows or columns, whichever are fewer, of the flattened matrix orthonormal, times gain."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flattened = _normal(_C.empty((rows, columns), dtype=tensor.dtype, device=tensor.device), 0, 1, generator)
    if rows < columns:
        flattened = flattened.t()
    q, r = _C._linalg["qr"](flattened)
    q = q * _C.diag(r, 0).sign()
    if rows < columns:
        q = q.t()
    return tensor.copy_(q.reshape(tensor.shape)).mul_(gain)


@_without_grad
def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Fills a matrix with normal numbers and makes a part `sparsity` of each column zero."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    _normal(tensor, 0, std, generator)
    for column in range(columns):
        tensor[_C.randperm(rows)[:zeros].to(tensor.device), column] = 0
    return tensor


def _deprecated(function):
    old_name = function.__name__[:-1]

    def call(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{old_name}` is now deprecated in favor of `nn.init.{function.__name__}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    call.__name__ = old_name
    call.__doc__ = f"The old name of {function.__name__}."
    return call


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
