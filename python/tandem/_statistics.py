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


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Differences of neighbours by central differences, one-sided at the edges; one tensor for each dimension."""
    if edge_order != 1:
        raise NotImplementedError("gradient: edge_order other than 1")
    dims = list(builtins.range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    steps = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    results = []
    for d, step in zip(dims, steps):
        n = input.size(d)
        if n < 2:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
        inner = (input.narrow(d, 2, n - 2) - input.narrow(d, 0, n - 2)) / (2 * step)
        first, last = (input.narrow(d, 1, 1) - input.narrow(d, 0, 1)) / step, (input.narrow(d, n - 1, 1) - input.narrow(d, n - 2, 1)) / step
        results.append(_C.cat([first, inner, last], d))
    return tuple(results)


@takes("Tensor input, *, int correction=1, Tensor fweights=None, Tensor aweights=None")
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariance of variables, a row each."""
    x = input.reshape(1, -1) if input.dim() < 2 else input
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    if weights is None:
        centered = x - x.mean(1, keepdim=True)
        result = centered @ centered.T / (x.size(1) - correction)
    else:
        total = weights.sum()
        centered = x - (x * weights).sum(1, keepdim=True) / total
        scale = total - correction if aweights is None else total - correction * (weights * aweights).sum() / total
        result = (centered * weights) @ centered.T / scale
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
