"""What distributions have in common: numbers as tensors of one size, probabilities and their logits, values made when first asked for."""

import math

from tandem import _C
from tandem.nn import functional as F

EULER = 0.5772156649015329
LOG_SQRT_2_PI = 0.5 * math.log(2 * math.pi)
_EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}
_TINY = {"float32": 2.0**-126, "float64": 2.0**-1022, "float16": 2.0**-14, "bfloat16": 2.0**-126}


def eps_of(dtype):
    """The distance from 1 to the next larger number."""
    return _EPS[repr(dtype).rsplit(".", 1)[-1]]


def tiny_of(dtype):
    """The smallest normal number."""
    return _TINY[repr(dtype).rsplit(".", 1)[-1]]


def broadcast_all(*values):
    """Numbers and tensors as tensors of a size in common."""
    if not all(isinstance(value, (_C.Tensor, int, float)) for value in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    like = next((value for value in values if isinstance(value, _C.Tensor)), None)
    dtype, device = (_C.get_default_dtype(), None) if like is None else (like.dtype, like.device)
    return _C.broadcast_tensors(
        [value if isinstance(value, _C.Tensor) else _C.tensor(value, dtype=dtype, device=device) for value in values]
    )


def clamp_probs(probs):
    """Probabilities that are neither 0 nor 1, so that their logarithms are finite."""
    eps = eps_of(probs.dtype)
    return probs.clamp(eps, 1 - eps)


def logits_to_probs(logits, is_binary=False):
    """Probabilities: of 1 where is_binary, else of the classes along the last dimension."""
    return _C.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def probs_to_logits(probs, is_binary=False):
    """The logarithms of probabilities, of odds where is_binary."""
    probs = clamp_probs(probs)
    return _C.log(probs) - _C.log1p(-probs) if is_binary else _C.log(probs)


def sum_rightmost(value, count):
    """The sums over the last `count` dimensions."""
    return value.sum(tuple(range(-count, 0))) if count else value


def _standard_normal(shape, dtype, device):
    """Numbers of the standard normal distribution: what other libraries' distributions draw by."""
    return _C.randn(shape, dtype=dtype, device=device)


_sum_rightmost = sum_rightmost  # PyTorch's name, which other libraries import


def tril_matrix_to_vec(mat, diag=0):
    """The elements below a diagonal of square matrices, and on it, row by row."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = _C.tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec, diag=0):
    """Lower triangular matrices from their elements, row by row."""
    count = vec.shape[-1]
    n = (-(1 + 2 * diag) + math.sqrt((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1))) / 2
    if round(n) - n > eps_of(_C.float32):
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square D x D matrix."
        )
    n = round(n)
    rows, columns = _C.tril_indices(n, n, diag, device=vec.device)
    places = rows * n + columns
    flat = _C.zeros((*vec.shape[:-1], n * n), dtype=vec.dtype, device=vec.device)
    return flat.index_copy(-1, places, vec).reshape((*vec.shape[:-1], n, n))


class lazy_property:
    """A property computed when it is first asked for, with gradients, and kept."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        before = _C._set_grad_enabled(True)
        try:
            value = self.wrapped(instance)
        finally:
            _C._set_grad_enabled(before)
        instance.__dict__[self.wrapped.__name__] = value
        return value
