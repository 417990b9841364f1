"""The inverse gamma distribution."""

import math

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.gamma import Gamma
from tandem.distributions.transformed_distribution import TransformedDistribution
from tandem.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / x of a gamma number."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(exponent=_C.tensor(-1.0, dtype=base.rate.dtype, device=base.rate.device))
        super().__init__(base, power, validate_args=validate_args)

    concentration = property(lambda self: self.base_dist.concentration)
    rate = property(lambda self: self.base_dist.rate)
    mode = property(lambda self: self.rate / (self.concentration + 1))

    @property
    def mean(self):
        result = self.rate / (self.concentration - 1)
        return _C.where(self.concentration > 1, result, _C.full_like(result, math.inf))

    @property
    def variance(self):
        result = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return _C.where(self.concentration > 2, result, _C.full_like(result, math.inf))

    def entropy(self):
        concentration = self.concentration
        return concentration + self.rate.log() + _C.lgamma(concentration) - (1 + concentration) * _C.digamma(concentration)
