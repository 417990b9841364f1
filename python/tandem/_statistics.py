"""Covariances, numerical gradients and integrals, and powers of a vector."""

import builtins

from . import _C
from ._arguments import takes


@takes("Tensor x, int N=None, bool increasing=False")
def vander(x, N=None, increasing=False):
    """Powers of the elements, a row for each."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    if N is not None and N < 0:
        raise RuntimeError("N must be non-negative.")
    powers = _C.arange(x.numel() if N is None else N, device=x.device)
    if not increasing:
        powers = powers.flip(0)
    return x.unsqueeze(-1) ** powers


def _spacings(spacing, count, dims_given, rank):
    """For each dimension its step: a number, or a tensor with the places of its points."""
    if isinstance(spacing, _C.Tensor):
        spacing = [spacing]
    if not isinstance(spacing, (list, tuple)):
        return [spacing] * count
    if len(spacing) != count:
        reason = "given dim argument" if dims_given else f"'self.dim() = {rank}', since dim argument was not given"
        raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
                           f"{reason}, but got a list of length {len(spacing)}")
    return list(spacing)


def _weighted(values, d, first, weights):
    """The sum over i of weights[i] times the values from first + i on, as many as a tensor of weights has or one."""
    n = max([1] + [w.numel() for w in weights if isinstance(w, _C.Tensor)])
    shape = [1] * values.dim()
    shape[d] = -1
    weights = [w.reshape(shape) if isinstance(w, _C.Tensor) else w for w in weights]
    return builtins.sum(values.narrow(d, first + i, n) * w for i, w in enumerate(weights))


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Differences of neighbours by central differences, one-sided at the edges; one tensor for each dimension.

    `spacing` is the step, one for each dimension, or tensors with the places of the points. `edge_order` 2 takes three points at an edge.
    """
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = list(builtins.range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    for d in dims:
        if not -input.dim() <= d < input.dim():
            raise IndexError(f"Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {d})")
    dims = [d % input.dim() for d in dims]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        if input.size(d) < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    values = input if input.is_floating_point() else input.to(_C.get_default_dtype())
    steps = _spacings(spacing, len(dims), dim is not None, input.dim())
    return tuple(_gradient_along(values, d, step, edge_order) for d, step in zip(dims, steps))


def _gradient_along(values, d, step, edge_order):
    """The gradient along one dimension: by the parabola through three neighbours, which for even steps is the central difference."""
    n = values.size(d)
    if isinstance(step, _C.Tensor) and step.dim() == 0:
        step = step.item()
    if isinstance(step, _C.Tensor):
        if step.dim() != 1 or step.numel() != n:
            raise RuntimeError("torch.gradient expected each element of spacing to have a single dimension, and as many places as "
                               f"the input has points along it, {n}, but got sizes {list(step.shape)}")
        gaps = _C.diff(step.to(values.dtype))
        first, last, one = gaps[:1], gaps[-1:], 1
        before, after = gaps[:-1], gaps[1:]
    else:
        first = last = before = after = 1
        one = 1 / step
    inner = []
    if n > 2 and isinstance(step, _C.Tensor):
        both = before + after
        inner = [_weighted(values, d, 0, [-after / (before * both), (after - before) / (before * after), before / (after * both)])]
    elif n > 2:
        inner = [(values.narrow(d, 2, n - 2) - values.narrow(d, 0, n - 2)) * (one / 2)]
    if edge_order == 1:
        left = _weighted(values, d, 0, [-1 / first, 1 / first])
        right = _weighted(values, d, n - 2, [-1 / last, 1 / last])
    else:
        second, third = (gaps[1:2], gaps[-2:-1]) if isinstance(step, _C.Tensor) else (1, 1)
        sum_left, sum_right = first + second, third + last
        left = _weighted(values, d, 0, [-1 / first - 1 / sum_left, sum_left / (first * second), -first / (second * sum_left)])
        right = _weighted(values, d, n - 3, [last / (third * sum_right), -sum_right / (third * last), 1 / last + 1 / sum_right])
    return _C.cat([left * one, *inner, right * one], d)


@takes("Tensor input, *, int correction=1, Tensor fweights=None, Tensor aweights=None")
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariance of variables, a row each."""
    x = input.reshape(1, -1) if input.dim() < 2 else input
    if not x.is_floating_point():
        x = x.to(_C.get_default_dtype())
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    if weights is None:
        centered = x - x.mean(1, keepdim=True)
        result = centered @ centered.T / max(0, x.size(1) - correction)
    else:
        total = weights.sum()
        centered = x - (x * weights).sum(1, keepdim=True) / total
        scale = total - correction if aweights is None else total - correction * (weights * aweights).sum() / total
        result = (centered * weights) @ centered.T / scale.clamp(min=0)
    return result.squeeze() if input.dim() < 2 else result


@takes("Tensor input")
def corrcoef(input):
    """The correlation of variables, a row each."""
    covariance = cov(input)
    if covariance.dim() == 0:
        return covariance / covariance
    deviations = covariance.diagonal().sqrt()
    return (covariance / deviations.unsqueeze(1) / deviations.unsqueeze(0)).clamp(-1, 1)


@takes("Tensor y, Tensor x, *, int dim=-1", "Tensor y, *, Number dx=1, int dim=-1")
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """Sums of trapezoids up to each point but the first."""
    n = y.size(dim)
    between = (y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)) / 2
    return _C.cumsum(between * (dx if x is None else _C.diff(x, dim=-1)), dim)
