"""The distribution of classes by their numbers."""

import math

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions import constraints
from tandem.distributions.probs_or_logits import ProbsOrLogits, check_one_given

__all__ = ["Categorical"]


class Categorical(ProbsOrLogits):
    """A class by its number; the last dimension of probs, or of logits, are the classes'. Neither has to be normalized."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False

    def __init__(self, probs=None, logits=None, validate_args=None):
        check_one_given(probs, logits)
        given = logits if probs is None else probs
        if given.dim() < 1:
            raise ValueError(f"`{'logits' if probs is None else 'probs'}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """The numbers of the classes."""
        return constraints.integer_interval(0, self._num_events - 1)

    mean = property(lambda self: _C.full(self._extended_shape(), math.nan, dtype=self.probs.dtype, device=self.probs.device))
    variance = mean
    mode = property(lambda self: self.probs.argmax(dim=-1))

    def sample(self, sample_shape=()):
        count = _C.Size(sample_shape).numel()
        with no_grad():
            drawn = _C.multinomial(self.probs.reshape(-1, self._num_events), count, True).t()
            return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        self._validate_sample(value)
        value, logits = _C.broadcast_tensors([value.long().unsqueeze(-1), self.logits])
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = self.logits.clamp(min=-3.4e38)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = _C.arange(self._num_events, dtype=_C.int64, device=self.probs.device).reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(_C.Size([self._num_events, *self._batch_shape])) if expand else values
