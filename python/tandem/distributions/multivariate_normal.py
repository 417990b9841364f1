"""The normal distribution of vectors."""

import math

from tandem import _C
from tandem._functions import broadcast_shapes
from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution
from tandem.distributions.utils import lazy_property

__all__ = ["MultivariateNormal"]


def precision_to_scale_tril(precision):
    """The Cholesky factor of a matrix's inverse: by the factor of the matrix turned about, whose inverse is triangular."""
    turned = _C._linalg["cholesky"](precision.flip((-2, -1)))
    factor = turned.flip((-2, -1)).mT
    eye = _C.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return _C._linalg["solve_triangular"](factor, eye.expand(factor.shape), upper=False)


def inverse_of_factor(factor):
    """The inverse of L Lᵀ from L."""
    eye = _C.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    inverse = _C._linalg["solve_triangular"](factor, eye.expand(factor.shape), upper=False)
    return inverse.mT @ inverse


def mahalanobis(factor, apart):
    """The squared length of L^-1 apart, of vectors."""
    apart = apart.unsqueeze(-1)
    batch = broadcast_shapes(factor.shape[:-2], apart.shape[:-2])
    factor, apart = factor.expand((*batch, *factor.shape[-2:])), apart.expand((*batch, *apart.shape[-2:]))
    return _C._linalg["solve_triangular"](factor, apart, upper=False).pow(2).sum((-2, -1))


def half_log_determinant(factor):
    """The logarithm of the determinant of a triangular matrix."""
    return _C.diagonal(factor, dim1=-2, dim2=-1).log().sum(-1)


class MultivariateNormal(Distribution):
    """Normal vectors with the mean loc and a covariance_matrix, or its Cholesky factor scale_tril, or its inverse precision_matrix."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = [
            (name, value)
            for name, value in (
                ("covariance_matrix", covariance_matrix),
                ("precision_matrix", precision_matrix),
                ("scale_tril", scale_tril),
            )
            if value is not None
        ]
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name, matrix = given[0]
        if matrix.dim() < 2:
            raise ValueError(f"{name} matrix must be at least two-dimensional, with optional leading batch dimensions")
        size = loc.shape[-1]
        batch = broadcast_shapes(loc.shape[:-1], matrix.shape[:-2])
        self.loc = loc.expand((*batch, size))
        self.__dict__[name] = matrix.expand((*batch, size, size))
        super().__init__(batch, (size,), validate_args)
        if name == "covariance_matrix":
            self._unbroadcasted_scale_tril = _C._linalg["cholesky"](matrix)
        elif name == "precision_matrix":
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)
        else:
            self._unbroadcasted_scale_tril = matrix

    def _whole(self, matrix):
        return matrix.expand((*self._batch_shape, *matrix.shape[-2:]))

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._whole(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return self._whole(inverse_of_factor(self._unbroadcasted_scale_tril))

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: self._unbroadcasted_scale_tril.pow(2).sum(-1).expand((*self._batch_shape, *self._event_shape)))

    def rsample(self, sample_shape=()):
        drawn = _C.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self._unbroadcasted_scale_tril @ drawn.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value):
        self._validate_sample(value)
        distance = mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_determinant(self._unbroadcasted_scale_tril)

    def entropy(self):
        result = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + half_log_determinant(self._unbroadcasted_scale_tril)
        return result.expand(self._batch_shape)
