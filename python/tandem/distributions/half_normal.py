"""The size of a normal number."""

import math

from tandem.distributions._folded import Folded
from tandem.distributions.normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Folded):
    """|x| of a normal number with the mean 0."""

    def __init__(self, scale, validate_args=None):
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))
