"""What distributions by probabilities or by their logits have in common."""

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution, clamp_probs, grad_mode


def check_one_given(probs, logits):
    """ValueError unless one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class ProbsOrLogits(Distribution):
    """Is given by probs or by logits; the other is made when it is first asked for, and kept."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __getattr__(self, name):
        makers = {"probs": ("logits", self._probs_of), "logits": ("probs", self._logits_of)}
        given, make = makers.get(name, (None, None))
        if given not in self.__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        with grad_mode(True):
            self.__dict__[name] = make(self.__dict__[given])
        return self.__dict__[name]

    def _given(self):
        return self.__dict__.get("probs", self.__dict__.get("logits"))

    @staticmethod
    def _probs_of(logits):
        return _C.sigmoid(logits)

    @staticmethod
    def _logits_of(probs):
        probs = clamp_probs(probs)
        return _C.log(probs) - _C.log1p(-probs)

    param_shape = property(lambda self: self._given().size())
