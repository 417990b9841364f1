"""The size of a number that is distributed alike on both sides of 0."""

import math

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.transformed_distribution import TransformedDistribution
from tandem.distributions.transforms import AbsTransform


class Folded(TransformedDistribution):
    """|x| of x from `base`, which has a scale and lies around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, base, validate_args):
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    scale = property(lambda self: self.base_dist.scale)
    mode = property(lambda self: _C.zeros_like(self.scale))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = value if isinstance(value, _C.Tensor) else _C.tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        result = self.base_dist.log_prob(value) + math.log(2)
        return _C.where(value >= 0, result, _C.full_like(result, -math.inf))

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value):
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)
