"""The distribution of classes by their numbers."""

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.distribution import clamp_probs, grad_mode
from tandem.distributions.probs_or_logits import ProbsOrLogits, check_one_given
from tandem.nn import functional as F


class Categorical(ProbsOrLogits):
    """A class by its number; the last dimension of probs, or of logits, are the classes'. Neither has to be normalized."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

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

    @staticmethod
    def _probs_of(logits):
        return F.softmax(logits, dim=-1)

    @staticmethod
    def _logits_of(probs):
        return _C.log(clamp_probs(probs))

    @property
    def support(self):
        """The numbers of the classes."""
        return constraints.integer_interval(lower_bound=0, upper_bound=self._num_events - 1)

    mean = property(lambda self: _C.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype, device=self.probs.device))
    variance = mean
    mode = property(lambda self: self.probs.argmax(dim=-1))

    def sample(self, sample_shape=()):
        count = 1
        for size in sample_shape:
            count *= size
        with grad_mode(False):
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
