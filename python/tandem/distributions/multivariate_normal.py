"""The normal distribution of vectors."""

import math

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution


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
        batch = list(_C.broadcast_tensors([loc[..., 0], matrix[..., 0, 0]])[0].shape)
        self.loc = loc.expand(_C.Size([*batch, size]))
        setattr(self, name, matrix.expand(_C.Size([*batch, size, size])))
        super().__init__(batch, (size,), validate_args)
        cholesky, inverse = _C._linalg["cholesky"], _C._linalg["inv"]
        self._factor = {"scale_tril": lambda m: m, "covariance_matrix": cholesky, "precision_matrix": lambda m: cholesky(inverse(m))}[name](
            getattr(self, name)
        )

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: self._factor.pow(2).sum(-1))

    def __getattr__(self, name):
        if name == "scale_tril":
            return self._factor
        if name == "covariance_matrix":
            return self._factor @ self._factor.mT
        if name == "precision_matrix":
            return _C._linalg["inv"](self._factor @ self._factor.mT)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def rsample(self, sample_shape=()):
        drawn = _C.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self._factor @ drawn.unsqueeze(-1)).squeeze(-1)

    def _log_determinant(self):
        return _C.diagonal(self._factor, dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        self._validate_sample(value)
        apart = (value - self.loc).unsqueeze(-1)
        factor = self._factor.expand(_C.Size([*apart.shape[:-2], *self._factor.shape[-2:]]))
        distance = _C._linalg["solve_triangular"](factor, apart, upper=False).pow(2).sum((-2, -1))
        return -0.5 * (self.loc.shape[-1] * math.log(2 * math.pi) + distance) - self._log_determinant()

    def entropy(self):
        return 0.5 * self.loc.shape[-1] * (1 + math.log(2 * math.pi)) + self._log_determinant()
