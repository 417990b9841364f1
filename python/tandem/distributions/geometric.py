"""The geometric distribution."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions import constraints
from tandem.distributions.probs_or_logits import ProbsOrLogits, check_one_given
from tandem.distributions.utils import broadcast_all, tiny_of
from tandem.nn import functional as F

__all__ = ["Geometric"]


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
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            invalid = self.probs[~(self.probs > 0)]
            raise ValueError(
                f"Expected parameter probs (Tensor of shape {tuple(self.probs.shape)}) of distribution {self!r} "
                f"to be positive but found invalid values:\n{invalid}"
            )

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: _C.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape=()):
        with no_grad():
            drawn = _C.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device)
            return (drawn.clamp(min=tiny_of(drawn.dtype)).log() / _C.log1p(-self.probs)).floor()

    def log_prob(self, value):
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        # With the probability 1 there are no failures: 0 times an infinite logarithm is 0.
        none = (probs == 1) & (value == 0)
        return value * _C.log1p(-_C.where(none, _C.zeros_like(probs), probs)) + self.probs.log()

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
