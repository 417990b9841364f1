"""The distribution of classes by vectors with a 1 at their place."""

from tandem.distributions import constraints
from tandem.distributions.categorical import Categorical
from tandem.distributions.distribution import Distribution
from tandem.nn import functional as F


class OneHotCategorical(Distribution):
    """A class as a vector with a 1 at its place."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))
    mode = property(lambda self: F.one_hot(self._categorical.mode, self._event_shape[0]).to(self.probs.dtype))

    def sample(self, sample_shape=()):
        return F.one_hot(self._categorical.sample(sample_shape), self._event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value):
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self):
        return self._categorical.entropy()
