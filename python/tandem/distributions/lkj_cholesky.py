"""The distribution of Lewandowski, Kurowicka and Joe: random correlation matrices, by their Cholesky factors."""

import math

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions import constraints
from tandem.distributions.beta import Beta
from tandem.distributions.distribution import Distribution
from tandem.distributions.utils import tiny_of
from tandem.special import multigammaln

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices with dim rows; the density of a matrix is as its determinant to concentration - 1.

    Samples by the onion method of Lewandowski, Kurowicka and Joe (2009), section 3.2.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        self.concentration = concentration if isinstance(concentration, _C.Tensor) else _C.tensor(float(concentration))
        row = _C.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        row = _C.cat([_C.zeros(1, dtype=row.dtype, device=row.device), row])
        first = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(0.5 * (row + 1), first.unsqueeze(-1) - 0.5 * row)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape, _instance)
        made._beta = self._beta.expand(_C.Size([*batch_shape, *self._beta.batch_shape[-1:]]))
        return made

    def sample(self, sample_shape=()):
        with no_grad():
            shares = self._beta.sample(sample_shape).unsqueeze(-1)
            directions = _C.randn(self._extended_shape(sample_shape), dtype=shares.dtype, device=shares.device).tril(-1)
            lengths = _C._linalg["vector_norm"](directions, 2.0, [-1], True)
            below = shares.sqrt() * directions / _C.where(lengths == 0, _C.ones_like(lengths), lengths)
            left = (1 - below.pow(2).sum(-1)).clamp(min=tiny_of(below.dtype))
            return below + _C.diag_embed(left.sqrt())

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n = self.dim
        diagonal = _C.diagonal(value, dim1=-1, dim2=-2)[..., 1:]
        row = _C.arange(2, n + 1, dtype=self.concentration.dtype, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + n - row
        weight = (order * diagonal.log()).sum(-1)
        alpha = self.concentration + 0.5 * (n - 1)
        norm = 0.5 * (n - 1) * math.log(math.pi) + multigammaln(alpha - 0.5, n - 1) - _C.lgamma(alpha) * (n - 1)
        return weight - norm
