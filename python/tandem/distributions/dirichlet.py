"""The Dirichlet distribution: shares of a whole."""

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.exp_family import ExponentialFamily
from tandem.distributions.sampling import standard_dirichlet
from tandem.nn import functional as F

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Vectors of shares that add up to 1, whose means are as the concentrations of the last dimension."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))
    _natural_params = property(lambda self: (self.concentration,))

    @property
    def mode(self):
        """Where the density is highest; a corner where all concentrations are below 1."""
        above = (self.concentration - 1).clamp(min=0)
        total = above.sum(-1, True)
        corner = (self.concentration < 1).all(dim=-1, keepdim=True)
        inside = above / _C.where(corner, _C.ones_like(total), total)
        return _C.where(corner, F.one_hot(inside.argmax(dim=-1), above.shape[-1]).to(inside.dtype), inside)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return standard_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        self._validate_sample(value)
        concentration = self.concentration
        return _C.xlogy(concentration - 1, value).sum(-1) + _C.lgamma(concentration.sum(-1)) - _C.lgamma(concentration).sum(-1)

    def entropy(self):
        concentration, k = self.concentration, self.concentration.size(-1)
        total = concentration.sum(-1)
        return (
            _C.lgamma(concentration).sum(-1) - _C.lgamma(total) - (k - total) * _C.digamma(total)
            - ((concentration - 1) * _C.digamma(concentration)).sum(-1)
        )

    def _log_normalizer(self, x):
        return _C.lgamma(x).sum(-1) - _C.lgamma(x.sum(-1))
