"""The Bernoulli distribution: 1 or 0."""

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.distribution import broadcast_all, grad_mode
from tandem.distributions.probs_or_logits import ProbsOrLogits, check_one_given
from tandem.nn import functional as F


class Bernoulli(ProbsOrLogits):
    """1 with the probability probs, else 0; or by logits, log(p / (1 - p))."""

    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        check_one_given(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(self._given().shape, validate_args=validate_args)

    mean = property(lambda self: self.probs)
    mode = property(lambda self: (self.probs >= 0.5).to(self.probs.dtype))
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        with grad_mode(False):
            return _C.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value.to(logits.dtype), reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        values = _C.arange(2, dtype=self._given().dtype, device=self._given().device).reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(_C.Size([2, *self._batch_shape])) if expand else values
