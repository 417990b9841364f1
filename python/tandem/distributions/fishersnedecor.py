"""Fisher and Snedecor's distribution: F."""

import math

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution
from tandem.distributions.gamma import Gamma
from tandem.distributions.utils import broadcast_all, tiny_of

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The ratio of two chi-squared numbers, each divided by its degrees of freedom."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape, _instance)
        made._gamma1, made._gamma2 = self._gamma1.expand(batch_shape), self._gamma2.expand(batch_shape)
        return made

    @property
    def mean(self):
        df2 = _C.where(self.df2 > 2, self.df2, _C.full_like(self.df2, math.nan))
        return df2 / (df2 - 2)

    @property
    def mode(self):
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return _C.where(self.df1 > 2, mode, _C.full_like(mode, math.nan))

    @property
    def variance(self):
        df2 = _C.where(self.df2 > 4, self.df2, _C.full_like(self.df2, math.nan))
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape=()):
        tiny = tiny_of(self.df1.dtype)
        over, under = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape).clamp(min=tiny)
        return (over / under).clamp(min=tiny)

    def log_prob(self, value):
        self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        norm = _C.lgamma(half1 + half2) - _C.lgamma(half1) - _C.lgamma(half2)
        return norm + half1 * ratio.log() + (half1 - 1) * value.log() - (half1 + half2) * _C.log1p(ratio * value)
