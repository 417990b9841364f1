"""The binomial distribution."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions import constraints
from tandem.distributions.probs_or_logits import ProbsOrLogits, check_one_given
from tandem.distributions.sampling import binomial_samples
from tandem.distributions.utils import broadcast_all
from tandem.nn import functional as F

__all__ = ["Binomial"]


class Binomial(ProbsOrLogits):
    """How many of total_count trials succeed, each with the probability probs."""

    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real}
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        check_one_given(probs, logits)
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        count, given = broadcast_all(total_count, given)
        self.total_count = count.to(given.dtype)
        self.__dict__[name] = given
        super().__init__(given.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """From 0 to total_count."""
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: _C.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial_samples(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        self._validate_sample(value)
        n, logits = self.total_count, self.logits
        choices = _C.lgamma(n + 1) - _C.lgamma(value + 1) - _C.lgamma(n - value + 1)
        return choices + value * logits - n * F.softplus(logits)

    def entropy(self):
        count = int(self.total_count.max())
        if not bool((self.total_count == count).all()):
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        count = int(self.total_count.max())
        if not bool((self.total_count == count).all()):
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = _C.arange(1 + count, dtype=self._given().dtype, device=self._given().device)
        values = values.reshape(-1, *[1] * len(self._batch_shape))
        return values.expand((1 + count, *self._batch_shape)) if expand else values
