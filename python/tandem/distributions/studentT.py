"""Student's t distribution."""

import math

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.chi2 import Chi2
from tandem.distributions.distribution import Distribution
from tandem.distributions.sampling import HALF_LOG_PI
from tandem.distributions.utils import broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t with df degrees of freedom, times scale, about loc."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape, _instance)
        made._chi2 = self._chi2.expand(batch_shape)
        return made

    mean = property(lambda self: _C.where(self.df > 1, self.loc, _C.full_like(self.loc, math.nan)))
    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        df = _C.where(self.df > 2, self.df, _C.full_like(self.df, 3.0))
        infinite = _C.where(self.df > 1, _C.full_like(df, math.inf), _C.full_like(df, math.nan))
        return _C.where(self.df > 2, self.scale.pow(2) * df / (df - 2), infinite)

    def rsample(self, sample_shape=()):
        drawn = _C.randn(self._extended_shape(sample_shape), dtype=self.df.dtype, device=self.df.device)
        return self.loc + self.scale * drawn * _C.rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def log_prob(self, value):
        self._validate_sample(value)
        y, half = (value - self.loc) / self.scale, 0.5 * self.df
        norm = self.scale.log() + 0.5 * self.df.log() + HALF_LOG_PI + _C.lgamma(half) - _C.lgamma(half + 0.5)
        return -(half + 0.5) * _C.log1p(y.square() / self.df) - norm

    def entropy(self):
        half = 0.5 * self.df
        log_beta = _C.lgamma(half) + HALF_LOG_PI - _C.lgamma(half + 0.5)
        return self.scale.log() + (half + 0.5) * (_C.digamma(half + 0.5) - _C.digamma(half)) + 0.5 * self.df.log() + log_beta
