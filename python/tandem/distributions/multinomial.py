"""The multinomial distribution: how often each class comes."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions import constraints
from tandem.distributions.binomial import Binomial
from tandem.distributions.categorical import Categorical
from tandem.distributions.distribution import Distribution
from tandem.distributions.utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each class comes in total_count trials; the classes' probabilities as those of Categorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape, _instance)
        made._categorical = self._categorical.expand(batch_shape)
        made._binomial = self._binomial.expand(_C.Size([*batch_shape, *self._event_shape]))
        return made

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        """Counts that add up to total_count."""
        return constraints.multinomial(self.total_count)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    param_shape = property(lambda self: self._categorical.param_shape)
    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        with no_grad():
            drawn = self._categorical.sample(_C.Size([self.total_count, *sample_shape]))
            shape = self._extended_shape(sample_shape)
            counts = _C.zeros(shape, dtype=self.probs.dtype, device=self.probs.device)
            drawn = drawn.movedim(0, -1).reshape((*shape[:-1], self.total_count))
            return counts.scatter_add(-1, drawn, _C.ones_like(drawn, dtype=counts.dtype))

    def entropy(self):
        n = _C.tensor(self.total_count, dtype=self.probs.dtype, device=self.probs.device)
        support = self._binomial.enumerate_support(expand=False)[1:]
        weights = _C.exp(self._binomial.log_prob(support))
        return n * self._categorical.entropy() - _C.lgamma(n + 1) + (weights * _C.lgamma(support + 1)).sum((0, -1))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        never = (value == 0) & (logits < -1e37)
        logits = _C.where(never, _C.zeros_like(logits), logits)
        return _C.lgamma(value.sum(-1) + 1) - _C.lgamma(value + 1).sum(-1) + (logits * value).sum(-1)
