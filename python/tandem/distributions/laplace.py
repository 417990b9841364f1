"""The Laplace distribution."""

import math

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution, broadcast_all


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
        u = _C.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device) * (2 - 2.0**-22) - (1 - 2.0**-22)
        return self.loc - self.scale * u.sign() * _C.log1p(-u.abs())

    def log_prob(self, value):
        self._validate_sample(value)
        return -_C.log(2 * self.scale) - (value - self.loc).abs() / self.scale

    def entropy(self):
        return 1 + _C.log(2 * self.scale)
