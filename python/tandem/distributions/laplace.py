"""The Laplace distribution."""

import math

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution
from tandem.distributions.utils import broadcast_all, eps_of

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Two exponential distributions back to back about loc."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale.pow(2))
    stddev = property(lambda self: math.sqrt(2) * self.scale)

    def rsample(self, sample_shape=()):
        drawn = _C.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        eps = eps_of(self.loc.dtype)
        u = (drawn * 2 - 1).clamp(eps - 1, 1 - eps)
        return self.loc - self.scale * u.sign() * _C.log1p(-u.abs())

    def log_prob(self, value):
        self._validate_sample(value)
        return -_C.log(2 * self.scale) - (value - self.loc).abs() / self.scale

    def cdf(self, value):
        self._validate_sample(value)
        apart = value - self.loc
        return 0.5 - 0.5 * apart.sign() * _C.expm1(-apart.abs() / self.scale)

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * _C.log1p(-2 * term.abs())

    def entropy(self):
        return 1 + _C.log(2 * self.scale)
