"""The distribution of exp of a normal number."""

from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution, broadcast_all
from tandem.distributions.normal import Normal


class LogNormal(Distribution):
    """exp of a normal number."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean = property(lambda self: (self.loc + self.scale.pow(2) / 2).exp())
    mode = property(lambda self: (self.loc - self.scale.square()).exp())
    variance = property(lambda self: (self.scale.pow(2).exp() - 1) * (2 * self.loc + self.scale.pow(2)).exp())

    def _normal(self):
        return Normal(self.loc, self.scale, validate_args=False)

    def rsample(self, sample_shape=()):
        return self._normal().rsample(sample_shape).exp()

    def log_prob(self, value):
        self._validate_sample(value)
        return self._normal().log_prob(value.log()) - value.log()

    def entropy(self):
        return self._normal().entropy() + self.loc
