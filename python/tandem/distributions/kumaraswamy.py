"""Kumaraswamy's distribution."""

import math

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.sampling import log_beta
from tandem.distributions.transformed_distribution import TransformedDistribution
from tandem.distributions.transforms import AffineTransform, PowerTransform
from tandem.distributions.uniform import Uniform
from tandem.distributions.utils import EULER, broadcast_all

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Numbers from 0 to 1 like those of a beta distribution: (1 - u^(1/concentration0))^(1/concentration1) of uniform numbers u."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(_C.zeros_like(self.concentration0), _C.ones_like(self.concentration0), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()), AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n):
        a, b = self.concentration1, self.concentration0
        return (b.log() + log_beta(1 + n / a, b)).exp()

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - self._moment(1).pow(2))

    @property
    def mode(self):
        """Where the density is highest, for concentrations of at least 1, not both 1; else nan."""
        a, b = self.concentration1, self.concentration0
        inside = (a >= 1) & (b >= 1) & (a * b > 1)
        share = (a - 1) / _C.where(inside, a * b - 1, _C.ones_like(a))
        return _C.where(inside, share.clamp(min=0).pow(1 / a), _C.full_like(a, math.nan))

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        return (1 - 1 / b) + (1 - 1 / a) * (_C.digamma(b + 1) + EULER) - a.log() - b.log()
