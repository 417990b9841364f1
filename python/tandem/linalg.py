"""Linear algebra: torch.linalg's functions."""

from . import _C
from ._C import LinAlgError
from . import _factorizations as _packed
from ._arguments import into as _into
from ._results import named_result as _named_result

globals().update(_C._linalg)

_vector_norm, _matrix_norm = _C._linalg["vector_norm"], _C._linalg["matrix_norm"]


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """The norm of vectors along `dim`, of all elements without it."""
    if dtype is not None:
        x = x.to(dtype)
    if dim is None:
        result = _vector_norm(x.reshape(-1) if not keepdim else x, float(ord), [0] if not keepdim else list(range(x.dim())), keepdim)
    else:
        result = _vector_norm(x, float(ord), [dim] if isinstance(dim, int) else list(dim), keepdim)
    return _into(out, result, "linalg_vector_norm")


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """The norm of matrices: 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2."""
    result = _matrix_norm(A if dtype is None else A.to(dtype), ord if isinstance(ord, str) else float(ord), list(dim), keepdim)
    return _into(out, result, "linalg_matrix_norm")


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
    return _into(out, result, "linalg_multi_dot", same_dtype=False)


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
    return _into(out, result, "linalg_cond", same_dtype=False)


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
    return _into(out, result, "linalg_tensorinv", same_dtype=False)


def tensorsolve(A, B, dims=None, *, out=None):
    """X of tensordot(A, X, X.dim()) = B. dims: dimensions of A that are moved to its end first."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    unknown = A.shape[B.dim():]
    if unknown.numel() != B.numel():
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
                           f"but got {unknown.numel()} != {B.numel()}")
    result = _C._linalg["solve"](A.reshape(B.numel(), unknown.numel()), B.reshape(-1)).reshape(unknown)
    return _into(out, result, "linalg_tensorsolve", same_dtype=False)


def _tolerances(rcond, atol, rtol):
    """PyTorch's two ways to say what counts as zero, as C++ takes them."""
    if rcond is not None and (atol is not None or rtol is not None):
        raise TypeError("rcond stands for rtol: give one of them")
    return {name: value for name, value in (("atol", atol), ("rtol", rcond if rcond is not None else rtol)) if value is not None}


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """Moore and Penrose's inverse; singular values up to max(atol, rtol * the largest) count as zero."""
    result = _C._linalg["pinv"](A, hermitian=hermitian, **_tolerances(rcond, atol, rtol))
    return _into(out, result, "linalg_pinv", same_dtype=False)


def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """How many singular values are not zero; `tol` is an absolute tolerance."""
    result = _C._linalg["matrix_rank"](A, hermitian=hermitian, **_tolerances(None, tol if tol is not None else atol, rtol))
    return _into(out, result, "linalg_matrix_rank", same_dtype=False)


# --- Factorizations, and forms that tell of failure in `info` in the place of an error

_CholeskyEx = _named_result("linalg_cholesky_ex", ["L", "info"])
_InvEx = _named_result("linalg_inv_ex", ["inverse", "info"])
_SolveEx = _named_result("linalg_solve_ex", ["result", "info"])
_Lu = _named_result("linalg_lu", ["P", "L", "U"])
_LuFactor = _named_result("linalg_lu_factor", ["LU", "pivots"])
_LuFactorEx = _named_result("linalg_lu_factor_ex", ["LU", "pivots", "info"])
_LdlFactor = _named_result("linalg_ldl_factor", ["LD", "pivots"])
_LdlFactorEx = _named_result("linalg_ldl_factor_ex", ["LD", "pivots", "info"])
_Polar = _named_result("linalg_polar", ["U", "H"])


def _given(result, out, name):
    """The named tuple, its tensors in those of `out` where that is given."""
    return result if out is None else type(result)(*(_into(place, value, name, same_dtype=False) for place, value in zip(out, result)))


def cholesky_ex(A, *, upper=False, check_errors=False, out=None):
    """The Cholesky factor and info: 0, or the order of the first leading minor that is not positive definite; the factor is nan there."""
    _packed.check_matrices("linalg.cholesky_ex", A, square=True)
    info = _first_bad_minor(A.detach())
    bad = info != 0
    if bool(bad.any()):
        if check_errors:
            raise LinAlgError(
                "linalg.cholesky_ex: The factorization could not be completed because the input is not positive-definite "
                f"(the leading minor of order {int(info.reshape(-1).max())} is not positive-definite)."
            )
        eye = _C.eye(A.size(-1), dtype=A.dtype, device=A.device).expand(A.shape)
        wide = bad.unsqueeze(-1).unsqueeze(-1).expand(A.shape)
        L = _C._linalg["cholesky"](_C.where(wide, eye, A), upper=upper)
        nan = _C.full_like(L, float("nan"))
        L = _C.where(wide, nan.triu() if upper else nan.tril(), L)
    else:
        L = _C._linalg["cholesky"](A, upper=upper)
    return _given(_CholeskyEx(L, info), out, "linalg_cholesky_ex")


def _first_bad_minor(A):
    """The order of the first leading minor that is not positive, by elimination; 0 where all are."""
    M = (A.tril() + A.tril(-1).mT).reshape((-1, *A.shape[-2:]))
    info = _C.zeros(M.size(0), dtype=_C.int32, device=A.device)
    for j in range(M.size(-1)):
        top = M[:, 0, 0]
        info = _C.where((info == 0) & ~(top > 0), _C.full_like(info, j + 1), info)
        top = _C.where(top > 0, top, _C.ones_like(top)).reshape(-1, 1, 1)
        M = M[:, 1:, 1:] - M[:, 1:, :1] * M[:, :1, 1:] / top
    return info.reshape(tuple(A.shape[:-2]))


def lu_factor_ex(A, *, pivot=True, check_errors=False, out=None):
    """L and U in one matrix, the rows exchanged in each step counted from 1, and info: where the diagonal of U has its first zero, or 0."""
    _packed.check_matrices("linalg.lu_factor", A)
    result = _LuFactorEx(*_packed.lu_packed(A, pivot))
    if check_errors:
        _check_lu("torch.linalg.lu_factor_ex", result.info)
    return _given(result, out, "linalg_lu_factor_ex")


def _check_lu(name, info):
    if bool((info != 0).any()):
        at = int(info.reshape(-1).max())
        raise RuntimeError(
            f"{name}: U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform "
            "the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )


def lu_factor(A, *, pivot=True, out=None):
    """L and U in one matrix, and the rows exchanged in each step, counted from 1. For lu_solve."""
    LU, pivots, info = lu_factor_ex(A, pivot=pivot)
    _check_lu("torch.linalg.lu_factor", info)
    return _given(_LuFactor(LU, pivots), out, "linalg_lu_factor")


def lu(A, *, pivot=True, out=None):
    """P, L and U of A = P L U; P is empty without pivoting."""
    _packed.check_matrices("linalg.lu", A)
    LU, pivots, _ = _packed.lu_packed(A, pivot)
    return _given(_Lu(*_packed.lu_unpack(LU, pivots, unpack_pivots=pivot)), out, "linalg_lu")


def lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None):
    """X of A X = B from lu_factor's result; X A = B where not left; with the transpose of A where `adjoint`."""
    result = _packed.lu_apply(LU, pivots, B, left, adjoint)
    return _into(out, result, "linalg_lu_solve", same_dtype=False)


def inv_ex(A, *, check_errors=False, out=None):
    """The inverse, and info: 0, or which diagonal element of U is zero; the inverse is nan there."""
    _packed.check_matrices("linalg.inv_ex", A, square=True)
    info = _packed.lu_packed(A.detach())[2]
    if check_errors and bool((info != 0).any()):
        raise LinAlgError(
            f"linalg.inv_ex: The diagonal element {int(info.reshape(-1).max())} is zero, the inversion could not be completed because the "
            "input matrix is singular."
        )
    return _given(_InvEx(_where_regular(A, info, _C._linalg["inv"]), info), out, "linalg_inv_ex")


def _where_regular(A, info, function):
    """function(A), and nan for the matrices whose info is not 0."""
    bad = (info != 0).unsqueeze(-1).unsqueeze(-1)
    if not bool(bad.any()):
        return function(A)
    result = function(_C.where(bad.expand(A.shape), _C.eye(A.size(-1), dtype=A.dtype, device=A.device).expand(A.shape), A))
    bad = bad if result.dim() >= A.dim() else bad.squeeze(-1)
    return _C.where(bad.expand(result.shape), _C.full_like(result, float("nan")), result)


def solve_ex(A, B, *, left=True, check_errors=False, out=None):
    """X of A X = B, and info: 0, or which diagonal element of U is zero; X is nan there."""
    _packed.check_matrices("linalg.solve", A, square=True)
    info = _packed.lu_packed(A.detach())[2]
    if check_errors and bool((info != 0).any()):
        raise LinAlgError("torch.linalg.solve_ex: The solver failed because the input matrix is singular.")
    return _given(_SolveEx(_where_regular(A, info, lambda regular: _C._linalg["solve"](regular, B, left=left)), info), out, "linalg_solve_ex")


def ldl_factor_ex(A, *, hermitian=False, check_errors=False, out=None):
    """Bunch and Kaufman's L D Lᵀ of symmetric matrices in LAPACK's form, pivots, and info: which part of D is zero, or 0."""
    result = _LdlFactorEx(*_packed.ldl_factored(A))
    if check_errors and bool((result.info != 0).any()):
        at = int(result.info.reshape(-1).max())
        raise LinAlgError(f"linalg.ldl_factor_ex: The factorization has a zero at D[{at}]: the matrix is singular")
    return _given(result, out, "linalg_ldl_factor_ex")


def ldl_factor(A, *, hermitian=False, out=None):
    """Bunch and Kaufman's L D Lᵀ of symmetric matrices in LAPACK's form, and pivots. For ldl_solve."""
    LD, pivots, _ = ldl_factor_ex(A, hermitian=hermitian)
    return _given(_LdlFactor(LD, pivots), out, "linalg_ldl_factor")


def ldl_solve(LD, pivots, B, *, hermitian=False, out=None):
    """X of A X = B from ldl_factor's result; without gradients."""
    result = _packed.ldl_applied(LD, pivots, B)
    return _into(out, result, "linalg_ldl_solve", same_dtype=False)


def matrix_sqrth(A):
    """The root of symmetric positive semidefinite matrices; eigenvalues below 0 count as 0."""
    _packed.check_matrices("linalg.matrix_sqrth", A, square=True)
    return _packed.SquareRoot.apply(A)


def polar(A, *, out=None):
    """U with orthonormal columns and the positive semidefinite H of A = U H."""
    _packed.check_matrices("linalg.polar", A)
    if A.size(-2) < A.size(-1):
        raise RuntimeError(
            f"linalg.polar: input must have at least as many rows as columns, but got {A.size(-2)} by {A.size(-1)} matrices"
        )
    return _given(_Polar(*_packed.Polar.apply(A)), out, "linalg_polar")


def householder_product(A, tau, *, out=None):
    """The first columns, as many as A has, of the product of the reflections that geqrf gives."""
    return _packed.householder_product(A, tau, out=out)
