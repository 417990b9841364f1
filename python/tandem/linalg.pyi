# Written by python/generate/stubs.py.
# mypy: disable-error-code="overload-overlap, overload-cannot-match"
from builtins import bool as _bool, float as _float, int as _int, str as _str
from collections.abc import Sequence
from typing import Any, overload

from tandem._C import _Device, _DType, _dtype, _Number, _Shape
from tandem._C import Generator, Size, Tensor
from tandem._C import _linalg_eigh
from tandem._C import _linalg_lstsq
from tandem._C import _linalg_qr
from tandem._C import _linalg_slogdet
from tandem._C import _linalg_svd

def cholesky(input: Tensor, *, upper: _bool = False, out: Tensor | None = None) -> Tensor:
    """L of L Lᵀ = A, or Lᵀ with `upper`; only that triangle of A is read. Error where A is not positive-definite."""
def cholesky_ex(A: Any, *, upper: Any = False, check_errors: Any = False, out: Tensor | None = None) -> Tensor:
    """The Cholesky factor and info: 0, or the order of the first leading minor that is not positive definite; the factor is nan there."""
def cond(A: Any, p: Any = None, *, out: Tensor | None = None) -> Any:
    """The condition number: the norm of a matrix times that of its inverse, for None, 2 and -2 by its singular values."""
def cross(input: Tensor, other: Tensor, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """The vector product along a dimension of size 3. As torch.linalg.cross."""
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant. As torch.linalg.det."""
def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """A view, as tandem.diagonal, of the last two dimensions."""
def eigh(input: Tensor, UPLO: _str = 'L', *, out: Sequence[Tensor] | None = None) -> _linalg_eigh:
    """Eigenvalues in ascending order and eigenvectors of symmetric matrices, from the triangle `UPLO`, "L" or "U"."""
def eigvalsh(input: Tensor, UPLO: _str = 'L', *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues alone. As torch.linalg.eigvalsh."""
def householder_product(A: Any, tau: Any, *, out: Tensor | None = None) -> Tensor:
    """The first columns, as many as A has, of the product of the reflections that geqrf gives."""
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Error where A is singular."""
def inv_ex(A: Any, *, check_errors: Any = False, out: Tensor | None = None) -> Tensor:
    """The inverse, and info: 0, or which diagonal element of U is zero; the inverse is nan there."""
def ldl_factor(A: Any, *, hermitian: Any = False, out: Tensor | None = None) -> Tensor:
    """Bunch and Kaufman's L D Lᵀ of symmetric matrices in LAPACK's form, and pivots. For ldl_solve."""
def ldl_factor_ex(A: Any, *, hermitian: Any = False, check_errors: Any = False, out: Tensor | None = None) -> Tensor:
    """Bunch and Kaufman's L D Lᵀ of symmetric matrices in LAPACK's form, pivots, and info: which part of D is zero, or 0."""
def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: Any = False, out: Tensor | None = None) -> Tensor:
    """X of A X = B from ldl_factor's result; without gradients."""
def lstsq(input: Tensor, b: Tensor, rcond: _float | None = None, *, out: Sequence[Tensor] | None = None) -> _linalg_lstsq:
    """X of the least |A X - B|, and of these of the least norm; singular values up to rcond times the largest count as zero. `residuals` and
`singular_values` are empty, as those of PyTorch's driver for the CPU, "gelsy"."""
def lu(A: Any, *, pivot: Any = True, out: Tensor | None = None) -> Tensor:
    """P, L and U of A = P L U; P is empty without pivoting."""
def lu_factor(A: Any, *, pivot: Any = True, out: Tensor | None = None) -> Tensor:
    """L and U in one matrix, and the rows exchanged in each step, counted from 1. For lu_solve."""
def lu_factor_ex(A: Any, *, pivot: Any = True, check_errors: Any = False, out: Tensor | None = None) -> Tensor:
    """L and U in one matrix, the rows exchanged in each step counted from 1, and info: where the diagonal of U has its first zero, or 0."""
def lu_solve(LU: Any, pivots: Any, B: Any, *, left: Any = True, adjoint: Any = False, out: Tensor | None = None) -> Tensor:
    """X of A X = B from lu_factor's result; X A = B where not left; with the transpose of A where `adjoint`."""
def matmul(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The product of matrices."""
def matrix_exp(A: Any) -> Tensor:
    """The exponential of square matrices."""
def matrix_norm(A: Any, ord: Any = 'fro', dim: Any = ..., keepdim: _bool = False, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor:
    """The norm of matrices: 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2."""
def matrix_power(input: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor:
    """A multiplied with itself n times; of the inverse where n is negative. As torch.linalg.matrix_power."""
def matrix_rank(A: Any, tol: Any = None, hermitian: Any = False, *, atol: Any = None, rtol: Any = None, out: Tensor | None = None) -> Tensor:
    """How many singular values are not zero; `tol` is an absolute tolerance."""
def matrix_sqrth(A: Any) -> Tensor:
    """The root of symmetric positive semidefinite matrices; eigenvalues below 0 count as 0."""
def multi_dot(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications."""
def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: _bool = False, *, out: Tensor | None = None, dtype: _DType | None = None) -> Tensor:
    """The norm of vectors or matrices, by how many dimensions there are."""
def pinv(A: Any, rcond: Any = None, hermitian: Any = False, *, atol: Any = None, rtol: Any = None, out: Tensor | None = None) -> Tensor:
    """Moore and Penrose's inverse; singular values up to max(atol, rtol * the largest) count as zero."""
def polar(A: Any, *, out: Tensor | None = None) -> Tensor:
    """U with orthonormal columns and the positive semidefinite H of A = U H."""
def qr(A: Tensor, mode: _str = 'reduced', *, out: Sequence[Tensor] | None = None) -> _linalg_qr:
    """Q R = A: `mode` "reduced", "complete" (Q square), or "r" (Q empty)."""
def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> _linalg_slogdet:
    """The sign of the determinant and the logarithm of its magnitude."""
def solve(A: Tensor, B: Tensor, *, left: _bool = True, out: Tensor | None = None) -> Tensor:
    """X of A X = B, or of X A = B without `left`; B may be a (batch of) vectors. Batches broadcast. Error where A is singular."""
def solve_ex(A: Any, B: Any, *, left: Any = True, check_errors: Any = False, out: Tensor | None = None) -> Tensor:
    """X of A X = B, and info: 0, or which diagonal element of U is zero; X is nan there."""
def solve_triangular(input: Tensor, B: Tensor, *, upper: _bool, left: _bool = True, unitriangular: _bool = False, out: Tensor | None = None) -> Tensor:
    """X of A X = B for a triangular A; the other triangle is not read, nor, with `unitriangular`, the diagonal of ones."""
def svd(A: Tensor, full_matrices: _bool = True, *, out: Sequence[Tensor] | None = None) -> _linalg_svd:
    """U diag(S) Vh = A, S in descending order; U and Vh square with `full_matrices`."""
def svdvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The singular values alone. As torch.linalg.svdvals."""
def tensorinv(A: Any, ind: Any = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of tensordot with A, whose first `ind` dimensions have as many elements as the others."""
def tensorsolve(A: Any, B: Any, dims: Any = None, *, out: Tensor | None = None) -> Tensor:
    """X of tensordot(A, X, X.dim()) = B. dims: dimensions of A that are moved to its end first."""
def vander(x: Any, N: Any = None) -> Tensor:
    """Powers 0 to N - 1 of the elements, a row for each."""
def vecdot(x: Tensor, y: Tensor, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """The dot product along a dimension. As torch.linalg.vecdot."""
def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: _bool = False, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor:
    """The norm of vectors along `dim`, of all elements without it."""
class LinAlgError(RuntimeError):
    """A matrix that an operation cannot work with, such as a singular one."""
