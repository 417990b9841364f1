"""The negative binomial distribution."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions import constraints
from tandem.distributions.probs_or_logits import ProbsOrLogits, check_one_given
from tandem.distributions.sampling import poisson_samples, standard_gamma
from tandem.distributions.utils import broadcast_all
from tandem.nn import functional as F

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ProbsOrLogits):
    """How many trials succeed, each with the probability probs, before total_count have failed."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        check_one_given(probs, logits)
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        count, given = broadcast_all(total_count, given)
        self.total_count = count.to(given.dtype)
        self.__dict__[name] = given
        super().__init__(given.shape, validate_args=validate_args)

    mean = property(lambda self: self.total_count * self.logits.exp())
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0))
    variance = property(lambda self: self.mean / _C.sigmoid(-self.logits))

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return poisson_samples(standard_gamma(self.total_count.expand(shape)) * self.logits.exp())

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        weight = n * F.logsigmoid(-logits) + value * F.logsigmoid(logits)
        norm = _C.lgamma(1 + value) + _C.lgamma(n) - _C.lgamma(n + value)
        return weight - _C.where(n + value == 0, _C.zeros_like(norm), norm)
