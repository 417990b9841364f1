"""The exponential distribution."""

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.exp_family import ExponentialFamily
from tandem.distributions.utils import broadcast_all

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Waiting times at a rate."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    mean = stddev = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: _C.zeros_like(self.rate))
    variance = property(lambda self: self.rate.pow(-2))
    _natural_params = property(lambda self: (-self.rate,))

    def rsample(self, sample_shape=()):
        return -_C.log1p(-_C.rand(self._extended_shape(sample_shape), dtype=self.rate.dtype, device=self.rate.device)) / self.rate

    def log_prob(self, value):
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        self._validate_sample(value)
        return 1 - _C.exp(-self.rate * value)

    def icdf(self, value):
        return -_C.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - _C.log(self.rate)

    def _log_normalizer(self, x):
        return -_C.log(-x)
