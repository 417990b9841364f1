"""Linear algebra, by the names and arguments of the array API standard's extension."""

import tandem
from tandem import _C, linalg as _linalg
from tandem.array_api._dtypes import promoted
from tandem.array_api._manipulation import matrix_transpose  # noqa: F401  the standard has it here too
from tandem.array_api._reductions import sum as _sum


def matmul(x1, x2, /):
    """The product of matrices, of their dtype in common."""
    return _C.matmul(*promoted(x1, x2))


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over several axes: the last `axes` of x1 with the first of x2, or two sequences of axes."""
    x1, x2 = promoted(x1, x2)
    return tandem.tensordot(x1, x2, dims=axes)


def vecdot(x1, x2, /, *, axis=-1):
    """The dot products of vectors along an axis."""
    x1, x2 = promoted(x1, x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: the vectors have {x1.shape[axis]} and {x2.shape[axis]} elements along axis {axis}")
    return _sum(x1 * x2, axis=axis, dtype=x1.dtype)


def outer(x1, x2, /):
    """All products of an element of x1 and one of x2."""
    x1, x2 = promoted(x1, x2)
    return _C.outer(x1, x2)


def cross(x1, x2, /, *, axis=-1):
    """The cross products of vectors of three elements along an axis."""
    x1, x2 = promoted(x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"cross: axis {axis} has to have size 3, and has {x1.shape[axis]} and {x2.shape[axis]}")
    return _linalg.cross(*_C.broadcast_tensors([x1, x2]), dim=axis)


def trace(x, /, *, offset=0, dtype=None):
    """The sum of a diagonal of matrices."""
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def diagonal(x, /, *, offset=0):
    """A diagonal of matrices."""
    rows, columns = x.shape[-2:]
    if not -rows < offset < columns:
        return x[..., :0, 0]
    return _C.diagonal(x, offset, -2, -1)


def cholesky(x, /, *, upper=False):
    """The lower factor of positive definite matrices, or the upper one."""
    return _linalg.cholesky(x, upper=upper)


def det(x, /):
    """The determinants of square matrices."""
    return _linalg.det(x)


def inv(x, /):
    """The inverses of square matrices."""
    return _linalg.inv(x)


def pinv(x, /, *, rtol=None):
    """Moore and Penrose's inverses; singular values up to rtol times the largest count as zero."""
    return _linalg.pinv(x, rtol=rtol)


def solve(x1, x2, /):
    """X of x1 X = x2. A vector is what has one dimension; all else is matrices."""
    x1, x2 = promoted(x1, x2)
    if x2.ndim == 1:
        return _linalg.solve(x1, x2.unsqueeze(-1)).squeeze(-1)
    batch = tandem.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return _linalg.solve(x1.expand(*batch, *x1.shape[-2:]), x2.expand(*batch, *x2.shape[-2:]))


def eigh(x, /):
    """The eigenvalues, in order, and eigenvectors of symmetric matrices."""
    return _linalg.eigh(x)


def eigvalsh(x, /):
    """The eigenvalues of symmetric matrices, in order."""
    return _linalg.eigvalsh(x)


def qr(x, /, *, mode="reduced"):
    """Q and R of Q R = x. mode: 'reduced' or 'complete', where Q is square."""
    return _linalg.qr(x, mode)


def slogdet(x, /):
    """The sign and the logarithm of the absolute value of determinants."""
    return _linalg.slogdet(x)


def svd(x, /, *, full_matrices=True):
    """U, S and Vh of U diag(S) Vh = x."""
    return _linalg.svd(x, full_matrices)


def svdvals(x, /):
    """The singular values, the largest first."""
    return _linalg.svdvals(x)


def matrix_power(x, n, /):
    """Matrices times themselves n times; the inverses for negative n."""
    return _linalg.matrix_power(x, n)


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are above rtol times the largest."""
    return _linalg.matrix_rank(x, rtol=rtol)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norms of matrices: 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2."""
    return _linalg.matrix_norm(x, ord, (-2, -1), keepdims)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norms of vectors along these axes, of all elements for None."""
    if axis == ():
        return _C.abs(x) if ord != 0 else (x != 0).to(x.dtype)
    return _linalg.vector_norm(x, ord, axis, keepdims)
