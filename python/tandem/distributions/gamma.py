"""The gamma distribution."""

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.exp_family import ExponentialFamily
from tandem.distributions.sampling import standard_gamma
from tandem.distributions.utils import broadcast_all, tiny_of
from tandem.special import gammainc

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """The gamma distribution of the shape `concentration`, with the mean concentration / rate."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))
    _natural_params = property(lambda self: (self.concentration - 1, -self.rate))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        value = standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        # A sample of 0 has no logarithm; the gradient goes past the bound.
        return value + (value.detach().clamp(min=tiny_of(value.dtype)) - value.detach())

    def log_prob(self, value):
        if not isinstance(value, _C.Tensor):
            value = _C.tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        self._validate_sample(value)
        concentration, rate = self.concentration, self.rate
        return _C.xlogy(concentration, rate) + _C.xlogy(concentration - 1, value) - rate * value - _C.lgamma(concentration)

    def cdf(self, value):
        self._validate_sample(value)
        return gammainc(self.concentration, self.rate * value)

    def entropy(self):
        concentration = self.concentration
        return concentration - _C.log(self.rate) + _C.lgamma(concentration) + (1 - concentration) * _C.digamma(concentration)

    def _log_normalizer(self, x, y):
        return _C.lgamma(x + 1) + (x + 1) * _C.log(-y.reciprocal())
