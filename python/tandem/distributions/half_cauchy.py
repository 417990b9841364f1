"""The size of a Cauchy number."""

import math

from tandem import _C
from tandem.distributions._folded import Folded
from tandem.distributions.cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """|x| of a Cauchy number about 0."""

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    mean = property(lambda self: _C.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device))
    variance = property(lambda self: self.base_dist.variance)
