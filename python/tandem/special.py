"""Special functions: torch.special's, made of what tandem has."""

import math

from . import _C

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]

digamma = psi = _C.digamma
erf, erfc, erfinv = _C.erf, _C.erfc, _C.erfinv
exp2, expm1, log1p = _C.exp2, _C.expm1, _C.log1p
expit, logit = _C.sigmoid, _C.logit
gammaln, polygamma = _C.lgamma, _C.polygamma
log_softmax, softmax, logsumexp = _C.log_softmax, _C.softmax, _C.logsumexp
round, sinc, xlogy = _C.round, _C.sinc, _C.xlogy


def _floating(input):
    return input if input.is_floating_point() else input.to(_C.get_default_dtype())


def _into(result, out):
    return result if out is None else out.copy_(result)


def entr(input, *, out=None):
    """-x ln(x); 0 at 0, -inf below."""
    x = _floating(input)
    return _into(_C.where(x < 0, _C.full_like(x, -math.inf), -_C.xlogy(x, x)), out)


def ndtr(input, *, out=None):
    """The normal distribution's share below x."""
    x = _floating(input)
    return _into(0.5 * _C.erfc(x * -math.sqrt(0.5)), out)


def log_ndtr(input, *, out=None):
    """The logarithm of ndtr. Far below 0, where ndtr is too small for its dtype, by the asymptotic series."""
    x = _floating(input)
    edge = -10.0 if x.dtype in (_C.float32, _C.float64) else -5.0
    far, low = x < edge, x < -1
    near = _C.log1p(-0.5 * _C.erfc(_C.where(low, _C.ones_like(x), x) * math.sqrt(0.5)))
    middle = _C.log(0.5 * _C.erfc(_C.where(low & ~far, x, _C.full_like(x, -1.0)) * -math.sqrt(0.5)))
    y = _C.where(far, x, _C.full_like(x, edge))
    inverse = 1 / (y * y)
    series, term = 0.0, 1.0
    for n in range(9):
        series = series + term
        term = term * -(2 * n + 1) * inverse
    below = -0.5 * y * y - _C.log(-y) - 0.5 * math.log(2 * math.pi) + _C.log(series)
    return _into(_C.where(far, below, _C.where(low, middle, near)), out)


def multigammaln(input, p):
    """The logarithm of the multivariate gamma function of p dimensions."""
    from ._composed import mvlgamma

    return mvlgamma(input, p)


def xlog1py(input, other, *, out=None):
    """x ln(1 + y); 0 where x is 0."""
    x = input if isinstance(input, _C.Tensor) else _C.tensor(input)
    y = other if isinstance(other, _C.Tensor) else _C.tensor(other, dtype=x.dtype if x.is_floating_point() else None, device=x.device)
    product = x * _C.log1p(y)
    return _into(_C.where((x == 0) & ~y.isnan(), _C.zeros_like(product), product), out)
