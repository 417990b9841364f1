"""Transforms: functions of tensors with an inverse and the logarithm of their derivative, of which distributions are made."""

import math

from tandem import _C
from tandem._functions import broadcast_shapes
from tandem.distributions import constraints
from tandem.distributions.transform_base import ComposeTransform, IndependentTransform, ReshapeTransform, Transform, identity_transform
from tandem.distributions.transform_parts import CatTransform, StackTransform
from tandem.distributions.utils import broadcast_all, eps_of, sum_rightmost, tiny_of, tril_matrix_to_vec, vec_to_tril_matrix
from tandem.nn import functional as F

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform", "CumulativeDistributionTransform",
    "ExpTransform", "IndependentTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform",
    "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
    "identity_transform",
]


class _Elementwise(Transform):
    """A function of each element that grows."""

    bijective = True
    sign = +1
    domain = constraints.real

    def __eq__(self, other):
        return type(other) is type(self)

    __hash__ = object.__hash__


class ExpTransform(_Elementwise):
    """exp(x)."""

    codomain = constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    """x to the power of `exponent`, for positive x."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    @property
    def sign(self):
        return self.exponent.sign()

    def __eq__(self, other):
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = object.__hash__

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class SigmoidTransform(_Elementwise):
    """1 / (1 + exp(-x))."""

    codomain = constraints.unit_interval

    def _call(self, x):
        return _C.sigmoid(x).clamp(tiny_of(x.dtype), 1 - eps_of(x.dtype))

    def _inverse(self, y):
        y = y.clamp(tiny_of(y.dtype), 1 - eps_of(y.dtype))
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Elementwise):
    """log(1 + exp(x))."""

    codomain = constraints.positive

    def _call(self, x):
        return F.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x)


class TanhTransform(_Elementwise):
    """tanh(x)."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return _C.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(Transform):
    """|x|; its inverse takes the positive one."""

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other):
        return isinstance(other, AbsTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """loc + scale * x; event_dim: how many of the last dimensions belong to one value."""

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    event_dim = property(lambda self: self._event_dim)

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """Real numbers."""
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    codomain = domain

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else AffineTransform(self.loc, self.scale, self._event_dim, cache_size=cache_size)

    def __eq__(self, other):
        return isinstance(other, AffineTransform) and all(
            bool(a.eq(b).all()) for a, b in (broadcast_all(self.loc, other.loc), broadcast_all(self.scale, other.scale))
        )

    __hash__ = object.__hash__

    @property
    def sign(self):
        if isinstance(self.scale, _C.Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        if isinstance(self.scale, _C.Tensor):
            result = self.scale.abs().log()
        else:
            result = _C.full_like(x, math.log(abs(self.scale)))
        if self._event_dim:
            result = result.expand(broadcast_shapes(result.shape, x.shape))
            result = sum_rightmost(result, self._event_dim)
        return result.expand(tuple(x.shape[: x.dim() - self._event_dim]))

    def _shape(self, shape):
        return broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    forward_shape = inverse_shape = _shape


class CorrCholeskyTransform(Transform):
    """A vector of n(n-1)/2 numbers as the Cholesky factor of an n by n correlation matrix: tanh of each is a partial correlation."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x):
        partial = x.tanh()
        eps = eps_of(x.dtype)
        r = vec_to_tril_matrix(partial.clamp(-1 + eps, 1 - eps), diag=-1)
        # What is left of a row's length 1 after the elements to the left, which the next takes its share of.
        left = (1 - r * r).sqrt().cumprod(-1)
        r = r + _C.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * F.pad(left[..., :-1], [1, 0], value=1.0)

    def _inverse(self, y):
        left = 1 - (y * y).cumsum(-1)
        shifted = F.pad(left[..., :-1], [1, 0], value=1.0)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(shifted, diag=-1).sqrt()
        return (partial.log1p() - (-partial).log1p()) / 2

    def log_abs_det_jacobian(self, x, y):
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        stretch = 0.5 * left.log().sum(-1)
        return stretch - 2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return _C.Size([*shape[:-1], n, n])

    def inverse_shape(self, shape):
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return _C.Size([*shape[:-2], shape[-1] * (shape[-1] - 1) // 2])


class SoftmaxTransform(Transform):
    """softmax along the last dimension; its inverse is the logarithm."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other):
        return isinstance(other, SoftmaxTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return F.softmax(x, dim=-1)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """A vector of n - 1 numbers as n shares of 1: each breaks the sigmoid of itself, less an offset, off what is left."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other):
        return isinstance(other, StickBreakingTransform)

    __hash__ = object.__hash__

    @staticmethod
    def _offset(x):
        return _C.arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x):
        z = _C.sigmoid(x - self._offset(x)).clamp(tiny_of(x.dtype), 1 - eps_of(x.dtype))
        left = (1 - z).cumprod(-1)
        return F.pad(z, [0, 1], value=1.0) * F.pad(left, [1, 0], value=1.0)

    def _inverse(self, y):
        shares = y[..., :-1]
        left = (1 - shares.cumsum(-1)).clamp(min=tiny_of(y.dtype))
        return shares.log() - left.log() + self._offset(shares)

    def log_abs_det_jacobian(self, x, y):
        x = x - self._offset(x)
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return _C.Size([*shape[:-1], shape[-1] + 1])

    def inverse_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return _C.Size([*shape[:-1], shape[-1] - 1])


class LowerCholeskyTransform(Transform):
    """Square matrices as lower triangular ones with a positive diagonal, by exp of the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other):
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.tril(-1) + _C.diag_embed(_C.diagonal(x, dim1=-2, dim2=-1).exp())

    def _inverse(self, y):
        return y.tril(-1) + _C.diag_embed(_C.diagonal(y, dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(Transform):
    """Square matrices as positive definite ones, by the Cholesky factor that LowerCholeskyTransform makes."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other):
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(_C._linalg["cholesky"](y))


class CumulativeDistributionTransform(Transform):
    """The distribution function of a distribution of numbers; its inverse gives quantiles."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else CumulativeDistributionTransform(self.distribution, cache_size=cache_size)
