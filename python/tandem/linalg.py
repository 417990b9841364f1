"""Linear algebra: torch.linalg's functions."""

from . import _C

globals().update(_C._linalg)

_vector_norm, _matrix_norm = _C._linalg["vector_norm"], _C._linalg["matrix_norm"]


class LinAlgError(RuntimeError):
    """A matrix that an operation cannot work with, such as a singular one."""


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """The norm of vectors along `dim`, of all elements without it."""
    if dtype is not None:
        x = x.to(dtype)
    if dim is None:
        result = _vector_norm(x.reshape(-1) if not keepdim else x, float(ord), [0] if not keepdim else list(range(x.dim())), keepdim)
    else:
        result = _vector_norm(x, float(ord), [dim] if isinstance(dim, int) else list(dim), keepdim)
    return result if out is None else out.copy_(result)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """The norm of matrices: 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2."""
    result = _matrix_norm(A if dtype is None else A.to(dtype), ord if isinstance(ord, str) else float(ord), list(dim), keepdim)
    return result if out is None else out.copy_(result)


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """The norm of vectors or matrices, by how many dimensions there are."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype, out=out)
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if (dims is None and A.dim() == 2) or (dims is not None and len(dims) == 2):
        return matrix_norm(A, ord, (-2, -1) if dims is None else dims, keepdim, dtype=dtype, out=out)
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.dim()}D.")
    return vector_norm(A, ord, dims, keepdim, dtype=dtype, out=out)


def multi_dot(tensors, *, out=None):
    """The product of several matrices, in the order that takes the fewest multiplications."""
    result = _C._linalg["multi_dot"](list(tensors))
    return result if out is None else out.copy_(result)


def matmul(input, other, *, out=None):
    """The product of matrices."""
    return _C.matmul(input, other, out=out)


def matrix_exp(A):
    """The exponential of square matrices."""
    from ._composed import matrix_exp as exponential
    return exponential(A)


def cond(A, p=None, *, out=None):
    """The condition number: the norm of a matrix times that of its inverse, for None, 2 and -2 by its singular values."""
    if p in (None, 2, -2):
        values = _C._linalg["svdvals"](A)
        result = values[..., 0] / values[..., -1] if p != -2 else values[..., -1] / values[..., 0]
    else:
        result = matrix_norm(A, p) * matrix_norm(_C._linalg["inv"](A), p)
    return result if out is None else out.copy_(result)


def vander(x, N=None):
    """Powers 0 to N - 1 of the elements, a row for each."""
    n = x.size(-1) if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    return x.unsqueeze(-1) ** _C.arange(n, device=x.device)


def tensorinv(A, ind=2, *, out=None):
    """The inverse of tensordot with A, whose first `ind` dimensions have as many elements as the others."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    first, rest = A.shape[:ind], A.shape[ind:]
    if first.numel() != rest.numel():
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
                           f"but got {rest.numel()} != {first.numel()}")
    result = _C._linalg["inv"](A.reshape(first.numel(), rest.numel())).reshape(*rest, *first)
    return result if out is None else out.copy_(result)


def tensorsolve(A, B, dims=None, *, out=None):
    """X of tensordot(A, X, X.dim()) = B. dims: dimensions of A that are moved to its end first."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    unknown = A.shape[B.dim():]
    if unknown.numel() != B.numel():
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
                           f"but got {unknown.numel()} != {B.numel()}")
    result = _C._linalg["solve"](A.reshape(B.numel(), unknown.numel()), B.reshape(-1)).reshape(unknown)
    return result if out is None else out.copy_(result)


def _tolerances(rcond, atol, rtol):
    """PyTorch's two ways to say what counts as zero, as C++ takes them."""
    if rcond is not None and (atol is not None or rtol is not None):
        raise TypeError("rcond stands for rtol: give one of them")
    return {name: value for name, value in (("atol", atol), ("rtol", rcond if rcond is not None else rtol)) if value is not None}


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """Moore and Penrose's inverse; singular values up to max(atol, rtol * the largest) count as zero."""
    result = _C._linalg["pinv"](A, hermitian=hermitian, **_tolerances(rcond, atol, rtol))
    return result if out is None else out.copy_(result)


def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """How many singular values are not zero; `tol` is an absolute tolerance."""
    result = _C._linalg["matrix_rank"](A, hermitian=hermitian, **_tolerances(None, tol if tol is not None else atol, rtol))
    return result if out is None else out.copy_(result)
