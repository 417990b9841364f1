"""The Wishart distribution of matrices."""

import math

from tandem import _C
from tandem._functions import broadcast_shapes
from tandem.distributions import constraints
from tandem.distributions.exp_family import ExponentialFamily
from tandem.distributions.multivariate_normal import half_log_determinant, inverse_of_factor, precision_to_scale_tril
from tandem.distributions.sampling import standard_gamma
from tandem.distributions.utils import lazy_property, tiny_of
from tandem.special import multigammaln

__all__ = ["Wishart"]


def multivariate_digamma(half_df, p):
    """The derivative of multigammaln(half_df, p)."""
    return sum(_C.digamma(half_df - j / 2) for j in range(p))


class Wishart(ExponentialFamily):
    """The sum of the outer products of df normal vectors, for any df above p - 1; p is the size of the matrices.

    Samples by the decomposition of Bartlett (1933).
    """

    arg_constraints = property(lambda self: {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(self.event_shape[-1] - 1),
    })
    support = constraints.positive_definite
    has_rsample = True

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = [
            (name, value)
            for name, value in (
                ("covariance_matrix", covariance_matrix),
                ("precision_matrix", precision_matrix),
                ("scale_tril", scale_tril),
            )
            if value is not None
        ]
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name, matrix = given[0]
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        size = matrix.shape[-1]
        df = df if isinstance(df, _C.Tensor) else _C.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = broadcast_shapes(df.shape, matrix.shape[:-2])
        if bool((df <= size - 1).any()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        self.__dict__[name] = matrix.expand((*batch, size, size))
        self.df = df.expand(batch)
        super().__init__(batch, (size, size), validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = _C._linalg["cholesky"](matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)

    def _whole(self, matrix):
        return matrix.expand((*self._batch_shape, *self._event_shape))

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance of the vectors."""
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return self._whole(inverse_of_factor(self._unbroadcasted_scale_tril))

    def _wide_df(self):
        return self.df.unsqueeze(-1).unsqueeze(-1)

    mean = property(lambda self: self._wide_df() * self.covariance_matrix)

    @property
    def mode(self):
        factor = self._wide_df() - self._event_shape[-1] - 1
        return _C.where(factor > 0, factor, _C.full_like(factor, math.nan)) * self.covariance_matrix

    @property
    def variance(self):
        V = self.covariance_matrix
        diagonal = _C.diagonal(V, dim1=-2, dim2=-1)
        return self._wide_df() * (V.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape=(), max_try_correction=None):
        """A sample. max_try_correction is accepted: the diagonal of a sample's factor is never 0."""
        p = self._event_shape[-1]
        shape = self._extended_shape(sample_shape)
        row = _C.arange(p, dtype=self.df.dtype, device=self.df.device)
        half = 0.5 * (self.df.unsqueeze(-1) - row)
        squares = (2 * standard_gamma(half.expand(tuple(shape[:-1])))).clamp(min=tiny_of(half.dtype))
        below = _C.randn(shape, dtype=half.dtype, device=half.device).tril(-1)
        factor = self._unbroadcasted_scale_tril @ (below + _C.diag_embed(squares.sqrt()))
        return factor @ factor.mT

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        inside = _C._linalg["cholesky"](value)
        batch = broadcast_shapes(factor.shape[:-2], value.shape[:-2])
        moved = _C._linalg["solve_triangular"](factor.expand((*batch, p, p)), inside.expand((*batch, p, p)), upper=False)
        return (
            -nu * (p * math.log(2) / 2 + half_log_determinant(factor)) - multigammaln(nu / 2, p)
            + (nu - p - 1) * half_log_determinant(inside) - 0.5 * moved.pow(2).sum((-2, -1))
        )

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        return (
            (p + 1) * (p * math.log(2) / 2 + half_log_determinant(self._unbroadcasted_scale_tril))
            + multigammaln(nu / 2, p) - (nu - p - 1) / 2 * multivariate_digamma(nu / 2, p) + nu * p / 2
        )
