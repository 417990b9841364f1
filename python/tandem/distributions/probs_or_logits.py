"""What distributions by probabilities or by their logits have in common."""

from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution
from tandem.distributions.utils import lazy_property, logits_to_probs, probs_to_logits


def check_one_given(probs, logits):
    """ValueError unless one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class ProbsOrLogits(Distribution):
    """Is given by probs or by logits; the other is made when it is first asked for, and kept."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    _is_binary = True

    def _given(self):
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @lazy_property
    def logits(self):
        """The logarithms of the odds, or of the classes' probabilities."""
        return probs_to_logits(self.probs, is_binary=self._is_binary)

    @lazy_property
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=self._is_binary)

    param_shape = property(lambda self: self._given().size())
