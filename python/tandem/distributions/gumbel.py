"""The Gumbel distribution: the largest of many."""

import math

from tandem.distributions import constraints
from tandem.distributions.transformed_distribution import TransformedDistribution
from tandem.distributions.transforms import AffineTransform, ExpTransform
from tandem.distributions.uniform import Uniform
from tandem.distributions.utils import EULER, broadcast_all, eps_of, tiny_of

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """loc - scale * log(-log(u)) of uniform numbers u."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        low, high = self.loc.detach() * 0 + tiny_of(self.loc.dtype), self.loc.detach() * 0 + (1 - eps_of(self.loc.dtype))
        transforms = [
            ExpTransform().inv, AffineTransform(loc=0, scale=-1.0), ExpTransform().inv, AffineTransform(loc=self.loc, scale=-self.scale),
        ]
        super().__init__(Uniform(low, high, validate_args=validate_args), transforms, validate_args=validate_args)

    mean = property(lambda self: self.loc + self.scale * EULER)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: math.pi / math.sqrt(6) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self):
        return self.scale.log() + (1 + EULER)
