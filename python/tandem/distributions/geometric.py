"""The geometric distribution."""

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.distribution import broadcast_all, clamp_probs, grad_mode
from tandem.distributions.probs_or_logits import ProbsOrLogits, check_one_given


class Geometric(ProbsOrLogits):
    """How many failures come before the first success, which has the probability probs."""

    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        check_one_given(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(self._given().shape, validate_args=validate_args)

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: _C.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape=()):
        with grad_mode(False):
            drawn = _C.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device).clamp(min=2.0**-126)
            return (drawn.log() / _C.log1p(-self.probs)).floor()

    def log_prob(self, value):
        self._validate_sample(value)
        return value * _C.log1p(-clamp_probs(self.probs)) + self.probs.log()

    def entropy(self):
        probs = clamp_probs(self.probs)
        return -(probs * probs.log() + (1 - probs) * _C.log1p(-probs)) / probs
