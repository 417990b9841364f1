"""The generalized Pareto distribution: what exceeds a threshold."""

import math

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution
from tandem.distributions.utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Exceedances of loc; concentration is the tail's index: 0 for exponential tails, above 0 for heavy ones, below 0 for an end."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _curved(self):
        """Whether the tail is not exponential, and an index that can be divided by."""
        curved = self.concentration.abs() > 1e-8
        return curved, _C.where(curved, self.concentration, _C.ones_like(self.concentration))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From loc on, to loc - scale / concentration for a concentration below 0."""
        _, index = self._curved()
        end = self.loc - self.scale / index
        return constraints.interval(self.loc, _C.where(self.concentration < 0, end, _C.full_like(end, math.inf)))

    def log_survival_function(self, value):
        """The logarithm of the probability of more than the value."""
        z = (value - self.loc) / self.scale
        curved, index = self._curved()
        return _C.where(curved, -_C.log1p(_C.where(curved, index * z, _C.zeros_like(z))) / index, -z)

    def rsample(self, sample_shape=()):
        return self.icdf(_C.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (1 + self.concentration) * self.log_survival_function(value) - self.scale.log()

    def log_cdf(self, value):
        """The logarithm of the probability of the value or less."""
        return _C.log1p(-_C.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return -_C.expm1(self.log_survival_function(value))

    def icdf(self, value):
        curved, index = self._curved()
        down = _C.log1p(-value)
        return self.loc + self.scale * _C.where(curved, _C.expm1(-index * down) / index, -down)

    @property
    def mean(self):
        valid = self.concentration < 1
        room = 1 - _C.where(valid, self.concentration, _C.full_like(self.concentration, 0.5))
        return _C.where(valid, self.loc + self.scale / room, _C.full_like(self.loc, math.nan))

    @property
    def variance(self):
        valid = self.concentration < 0.5
        index = _C.where(valid, self.concentration, _C.full_like(self.concentration, 0.25))
        return _C.where(valid, self.scale**2 / ((1 - index) ** 2 * (1 - 2 * index)), _C.full_like(self.loc, math.nan))

    mode = property(lambda self: self.loc)

    def entropy(self):
        return self.scale.log() + self.concentration + 1
