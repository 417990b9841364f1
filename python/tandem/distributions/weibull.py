"""The Weibull distribution."""

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.exponential import Exponential
from tandem.distributions.transformed_distribution import TransformedDistribution
from tandem.distributions.transforms import AffineTransform, PowerTransform
from tandem.distributions.utils import EULER, broadcast_all

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """More than x has the probability exp(-(x / scale)^concentration)."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(_C.ones_like(self.scale), validate_args=validate_args)
        transforms = [PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape, _instance)
        made.concentration_reciprocal = self.concentration_reciprocal.expand(batch_shape)
        return made

    mean = property(lambda self: self.scale * _C.exp(_C.lgamma(1 + self.concentration_reciprocal)))
    mode = property(lambda self: self.scale * (1 - self.concentration_reciprocal).pow(self.concentration_reciprocal))

    @property
    def variance(self):
        second = _C.exp(_C.lgamma(1 + 2 * self.concentration_reciprocal))
        return self.scale.pow(2) * (second - _C.exp(2 * _C.lgamma(1 + self.concentration_reciprocal)))

    def entropy(self):
        return EULER * (1 - self.concentration_reciprocal) + _C.log(self.scale * self.concentration_reciprocal) + 1
