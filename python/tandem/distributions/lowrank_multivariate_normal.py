"""Normal vectors whose covariance is a diagonal matrix and one of low rank."""

import math

from tandem import _C
from tandem._functions import broadcast_shapes
from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution
from tandem.distributions.multivariate_normal import half_log_determinant, mahalanobis
from tandem.distributions.utils import lazy_property

__all__ = ["LowRankMultivariateNormal"]


def capacitance_factor(factor, diagonal):
    """The Cholesky factor of I + Wᵀ D^-1 W."""
    inner = factor.mT @ (factor / diagonal.unsqueeze(-1))
    return _C._linalg["cholesky"](inner + _C.eye(inner.shape[-1], dtype=inner.dtype, device=inner.device))


def lowrank_log_determinant(diagonal, capacitance):
    """The logarithm of the determinant of W Wᵀ + D, by the matrix determinant lemma."""
    return 2 * half_log_determinant(capacitance) + diagonal.log().sum(-1)


def lowrank_mahalanobis(factor, diagonal, apart, capacitance):
    """apartᵀ (W Wᵀ + D)^-1 apart, by Woodbury's identity."""
    scaled = apart / diagonal
    inner = (factor.mT @ scaled.unsqueeze(-1)).squeeze(-1)
    return (apart * scaled).sum(-1) - mahalanobis(capacitance, inner)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with the mean loc and the covariance cov_factor cov_factorᵀ + diag(cov_diag)."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        size = loc.shape[-1]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2] != size:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {size} x m")
        if cov_diag.shape[-1] != size:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {(size,)}")
        try:
            batch = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc = loc.expand((*batch, size))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self.cov_diag = cov_diag.expand((*batch, size))
        self._capacitance = capacitance_factor(cov_factor, cov_diag)
        super().__init__(batch, (size,), validate_args=validate_args)

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: self.cov_factor.pow(2).sum(-1) + self.cov_diag)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return _C._linalg["cholesky"](self.covariance_matrix)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        return self.cov_factor @ self.cov_factor.mT + _C.diag_embed(self.cov_diag)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        scaled = self.cov_factor / self.cov_diag.unsqueeze(-1)
        capacitance = self._capacitance.expand((*self._batch_shape, *self._capacitance.shape[-2:]))
        inner = _C._linalg["solve_triangular"](capacitance, scaled.mT, upper=False)
        return _C.diag_embed(self.cov_diag.reciprocal()) - inner.mT @ inner

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape, _instance)
        for name in ("scale_tril", "covariance_matrix", "precision_matrix"):
            made.__dict__.pop(name, None)
        return made

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        narrow = (*shape[:-1], self.cov_factor.shape[-1])
        of_factor = _C.randn(narrow, dtype=self.loc.dtype, device=self.loc.device)
        of_diagonal = _C.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self.cov_factor @ of_factor.unsqueeze(-1)).squeeze(-1) + self.cov_diag.sqrt() * of_diagonal

    def log_prob(self, value):
        self._validate_sample(value)
        distance = lowrank_mahalanobis(self.cov_factor, self.cov_diag, value - self.loc, self._capacitance)
        log_determinant = lowrank_log_determinant(self.cov_diag, self._capacitance)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_determinant + distance)

    def entropy(self):
        log_determinant = lowrank_log_determinant(self.cov_diag, self._capacitance)
        return (0.5 * (self._event_shape[0] * (1 + math.log(2 * math.pi)) + log_determinant)).expand(self._batch_shape)
