"""The Bernoulli distribution: 1 or 0."""

import math

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions import constraints
from tandem.distributions.exp_family import ExponentialFamily
from tandem.distributions.probs_or_logits import ProbsOrLogits, check_one_given
from tandem.distributions.utils import broadcast_all
from tandem.nn import functional as F

__all__ = ["Bernoulli"]


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """1 with the probability probs, else 0; or by logits, log(p / (1 - p))."""

    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, validate_args=None):
        check_one_given(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(self._given().shape, validate_args=validate_args)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))
    _natural_params = property(lambda self: (_C.logit(self.probs),))

    @property
    def mode(self):
        """The likelier one; nan where both are."""
        likelier = (self.probs >= 0.5).to(self.probs.dtype)
        return _C.where(self.probs == 0.5, _C.full_like(likelier, math.nan), likelier)

    def sample(self, sample_shape=()):
        with no_grad():
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

    def _log_normalizer(self, x):
        return x.exp().log1p()
