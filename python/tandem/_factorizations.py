"""LU, QR by reflections and LDL factorizations in the packed forms of LAPACK, and what is made of these. Batches are done together."""

import math

from . import _C
from ._arguments import into
from ._results import named_result
from .autograd.function import Function, once_differentiable

LuUnpack = named_result("lu_unpack", ["P", "L", "U"])
Geqrf = named_result("geqrf", ["a", "tau"])
TriangularSolve = named_result("triangular_solve", ["solution", "cloned_coefficient"])
_solve_triangular = _C._linalg["solve_triangular"]


def check_matrices(name, A, square=False):
    """RuntimeError unless A are matrices, square ones where asked for."""
    if A.dim() < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead")
    if square and A.size(-1) != A.size(-2):
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {A.size(-2)} by {A.size(-1)} matrices")


def _in_batches(A):
    """A copy without a history, with one dimension for the batch."""
    return A.detach().reshape((-1, *A.shape[-2:])).clone()


# --- LU


def _eliminated(A, pivot):
    """LU in one matrix, the rows exchanged in each step (counted from 1), and where the first zero on the diagonal is, or 0."""
    M = _in_batches(A)
    count, rows, columns = M.shape
    steps = min(rows, columns)
    pivots = _C.arange(1, steps + 1, dtype=_C.int32, device=A.device).expand((count, steps)).clone()
    info = _C.zeros(count, dtype=_C.int32, device=A.device)
    for j in range(steps):
        if pivot and j + 1 < rows:
            best = M[:, j:, j].abs().argmax(1) + j
            pivots[:, j] = (best + 1).to(_C.int32)
            place = best.reshape(-1, 1, 1).expand((count, 1, columns))
            here, there = M[:, j : j + 1].clone(), M.gather(1, place)
            M.scatter_(1, place, here)
            M[:, j : j + 1] = there
        top = M[:, j, j]
        zero = top == 0
        info = _C.where(zero & (info == 0), _C.full_like(info, j + 1), info)
        if j + 1 < rows:
            factor = M[:, j + 1 :, j] / _C.where(zero, _C.ones_like(top), top).unsqueeze(-1)
            M[:, j + 1 :, j] = factor
            if j + 1 < columns:
                M[:, j + 1 :, j + 1 :].sub_(factor.unsqueeze(-1) * M[:, j : j + 1, j + 1 :])
    batch = tuple(A.shape[:-2])
    return M.reshape(A.shape), pivots.reshape((*batch, steps)), info.reshape(batch)


def row_order(pivots, rows):
    """Which rows of A the rows of L U are, from the exchanges."""
    flat = pivots.reshape((-1, pivots.size(-1))).long() - 1
    order = _C.arange(rows, device=pivots.device).expand((flat.size(0), rows)).clone()
    for j in range(flat.size(1)):
        place = flat[:, j : j + 1]
        here, there = order[:, j : j + 1].clone(), order.gather(1, place)
        order.scatter_(1, place, here)
        order[:, j : j + 1] = there
    return order.reshape((*pivots.shape[:-1], rows))


def _rows(matrix, order):
    return matrix.gather(-2, order.unsqueeze(-1).expand(matrix.shape))


class _SquareLU(Function):
    """The packed factors of a square matrix whose rows are in order, from values that are known."""

    @staticmethod
    def forward(ctx, A, packed):
        packed = packed.clone()
        ctx.save_for_backward(packed)
        return packed

    @staticmethod
    def backward(ctx, grad):
        (packed,) = ctx.saved_tensors
        L = packed.tril(-1) + _C.eye(packed.size(-1), dtype=packed.dtype, device=packed.device)
        U = packed.triu()
        inner = (L.mT @ grad.tril(-1)).tril(-1) + (grad.triu() @ U.mT).triu()
        left = _solve_triangular(L.mT, inner, upper=True, unitriangular=True)
        return _solve_triangular(U.mT, left, upper=False, left=False), None


def lu_packed(A, pivot=True):
    """The packed factors, differentiable by A, the exchanges, and info."""
    packed, pivots, info = _eliminated(A, pivot)
    if not (A.requires_grad and _C.is_grad_enabled()):
        return packed, pivots, info
    rows, columns = A.shape[-2:]
    steps = min(rows, columns)
    ordered = _rows(A, row_order(pivots, rows))
    result = square = _SquareLU.apply(ordered[..., :steps, :steps], packed[..., :steps, :steps])
    if columns > steps:
        result = _C.cat([square, _solve_triangular(square, ordered[..., :steps, steps:], upper=False, unitriangular=True)], -1)
    elif rows > steps:
        result = _C.cat([square, _solve_triangular(square, ordered[..., steps:, :steps], upper=True, left=False)], -2)
    return result, pivots, info


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """P, L and U of A = P L U from the packed form; empty tensors for what is not asked for."""
    rows, columns = LU_data.shape[-2:]
    steps = min(rows, columns)
    empty = _C.empty(0, dtype=LU_data.dtype, device=LU_data.device)
    P = L = U = empty
    eye = _C.eye(rows, dtype=LU_data.dtype, device=LU_data.device)
    if unpack_pivots:
        P = eye[row_order(LU_pivots, rows)].mT
    if unpack_data:
        L, U = LU_data[..., :steps].tril(-1) + eye[:, :steps], LU_data[..., :steps, :].triu()
    result = LuUnpack(P, L, U)
    return result if out is None else LuUnpack(*(into(place, value, "lu_unpack", same_dtype=False) for place, value in zip(out, result)))


def lu_apply(LU, pivots, B, left=True, adjoint=False):
    """X of A X = B (X A = B where not left; with the transpose of A where `adjoint`) from the packed factors of A."""
    if not left:
        return lu_apply(LU, pivots, B.mT, True, not adjoint).mT
    from ._functions import broadcast_shapes

    batch = broadcast_shapes(tuple(LU.shape[:-2]), tuple(B.shape[:-2]))
    LU, B = LU.expand((*batch, *LU.shape[-2:])), B.expand((*batch, *B.shape[-2:]))
    order = row_order(pivots, LU.size(-1)).expand((*batch, LU.size(-1)))
    if not adjoint:
        return _solve_triangular(LU, _solve_triangular(LU, _rows(B, order), upper=False, unitriangular=True), upper=True)
    inner = _solve_triangular(LU.mT, _solve_triangular(LU.mT, B, upper=False), upper=True, unitriangular=True)
    return _rows(inner, order.argsort(-1))


# --- QR by Householder's reflections


def geqrf(input, *, out=None):
    """R on and above the diagonal, below it the vectors of the reflections whose product is Q, and their weights tau."""
    check_matrices("torch.geqrf", input)
    M = _in_batches(input)
    count, rows, columns = M.shape
    steps = min(rows, columns)
    tau = _C.zeros((count, steps), dtype=M.dtype, device=M.device)
    for j in range(min(steps, rows - 1)):
        top, below = M[:, j, j].clone(), M[:, j + 1 :, j]
        tail = below.square().sum(1)
        none = tail == 0
        length = (top.square() + tail).sqrt()
        new_top = _C.where(none, top, _C.where(top < 0, length, -length))
        tau[:, j] = _C.where(none, _C.zeros_like(top), (new_top - top) / _C.where(none, _C.ones_like(top), new_top))
        vector = below / _C.where(none, _C.ones_like(top), top - new_top).unsqueeze(-1)
        M[:, j + 1 :, j] = vector
        M[:, j, j] = new_top
        if j + 1 < columns:
            whole = _C.cat([_C.ones_like(top).unsqueeze(-1), vector], 1).unsqueeze(-1)
            rest = M[:, j:, j + 1 :]
            rest.sub_(tau[:, j].reshape(-1, 1, 1) * whole * (whole * rest).sum(1, keepdim=True))
    result = Geqrf(M.reshape(input.shape), tau.reshape((*input.shape[:-2], steps)))
    return result if out is None else Geqrf(*(into(place, value, "geqrf", same_dtype=False) for place, value in zip(out, result)))


def _reflected(A, tau, matrix, order):
    """The matrix after the reflections of these numbers, one after another."""
    rows = A.size(-2)
    for j in order:
        unit = _C.zeros(rows, dtype=A.dtype, device=A.device)
        unit[j] = 1
        vector = (A[..., j] * (_C.arange(rows, device=A.device) > j) + unit).unsqueeze(-1)
        matrix = matrix - tau[..., j].unsqueeze(-1).unsqueeze(-1) * vector * (vector.mT @ matrix)
    return matrix


def householder_product(A, tau, *, out=None):
    """The first columns, as many as A has, of the product of the reflections that geqrf gives."""
    check_matrices("torch.linalg.householder_product", A)
    if A.size(-2) < A.size(-1):
        raise RuntimeError("torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if A.size(-1) < tau.size(-1):
        raise RuntimeError("torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    eye = _C.eye(A.size(-2), A.size(-1), dtype=A.dtype, device=A.device).expand(A.shape)
    result = _reflected(A, tau, eye, reversed(range(tau.size(-1))))
    return into(out, result, "householder_product", same_dtype=False)


def orgqr(input, tau):
    """householder_product, by its old name."""
    return householder_product(input, tau)


def ormqr(input, tau, other, left=True, transpose=False, *, out=None):
    """Q times other, or other times Q where not left, of the whole Q of geqrf's reflections; its transpose where asked for."""
    if not left:
        result = ormqr(input, tau, other.mT, True, not transpose).mT
    else:
        steps = range(tau.size(-1))
        result = _reflected(input, tau, other, steps if transpose else reversed(steps))
    return into(out, result, "ormqr", same_dtype=False)


def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """X of A X = b for a triangular A, and A: the old form of linalg.solve_triangular."""
    triangle = A.mT if transpose else A
    solution = _solve_triangular(triangle, b, upper=upper != transpose, unitriangular=unitriangular)
    result = TriangularSolve(solution, A.clone())
    return result if out is None else TriangularSolve(*(into(place, value, "triangular_solve", same_dtype=False) for place, value in zip(out, result)))


# --- LDL of symmetric matrices

_BUNCH_KAUFMAN = (1 + math.sqrt(17)) / 8


def _ldl_of_one(A):
    """Bunch and Kaufman's LD, pivots and info of one matrix, from its lower triangle; two equal negative pivots mark a 2 by 2 block."""
    n = A.size(0)
    M = A.tril() + A.tril(-1).T
    LD = _C.zeros_like(M)
    pivots, info, k = [0] * n, 0, 0
    while k < n:
        step, chosen = 1, k
        diagonal = abs(M[k, k].item())
        largest, row = (0.0, k) if k + 1 == n else (M[k + 1 :, k].abs().max().item(), k + 1 + M[k + 1 :, k].abs().argmax().item())
        if max(diagonal, largest) == 0:
            info = info or k + 1
        elif diagonal < _BUNCH_KAUFMAN * largest:
            others = M[row, k:].abs()
            others[row - k] = 0
            of_row = others.max().item()
            if diagonal < _BUNCH_KAUFMAN * largest * (largest / of_row):
                chosen = row
                if abs(M[row, row].item()) < _BUNCH_KAUFMAN * of_row:
                    step = 2
        last = k + step - 1
        if chosen != last:
            order = list(range(n))
            order[last], order[chosen] = chosen, last
            # The columns that are done keep their rows, as LAPACK has it.
            M = M[order][:, order]
        if step == 1:
            pivots[k] = chosen + 1
            LD[k, k] = M[k, k]
            if k + 1 < n and M[k, k].item() != 0:
                factor = M[k + 1 :, k] / M[k, k]
                LD[k + 1 :, k] = factor
                M[k + 1 :, k + 1 :].sub_(_C.outer(factor, M[k + 1 :, k]))
        else:
            pivots[k] = pivots[k + 1] = -(chosen + 1)
            block = M[k : k + 2, k : k + 2].clone()
            LD[k : k + 2, k : k + 2] = block.tril()
            if k + 2 < n:
                factor = _C._linalg["solve"](block, M[k : k + 2, k + 2 :]).T
                LD[k + 2 :, k : k + 2] = factor
                M[k + 2 :, k + 2 :].sub_(factor @ M[k : k + 2, k + 2 :])
        k += step
    return LD, pivots, info


def ldl_factored(A):
    """LD, pivots and info of symmetric matrices; one matrix after another."""
    check_matrices("torch.linalg.ldl_factor_ex", A, square=True)
    made = [_ldl_of_one(one) for one in _in_batches(A).unbind(0)]
    batch, n = tuple(A.shape[:-2]), A.size(-1)
    LD = _C.stack([one[0] for one in made]).reshape(A.shape)
    pivots = _C.tensor([one[1] for one in made], dtype=_C.int32, device=A.device).reshape((*batch, n))
    return LD, pivots, _C.tensor([one[2] for one in made], dtype=_C.int32, device=A.device).reshape(batch)


def _ldl_solved(LD, pivots, B):
    """X of A X = B for one matrix."""
    n, X, k = len(pivots), B.clone(), 0

    def exchange(a, b):
        if a != b:
            X[[a, b]] = X[[b, a]].clone()

    while k < n:
        step = 1 if pivots[k] > 0 else 2
        exchange(k + step - 1, abs(pivots[k]) - 1)
        block = LD[k : k + step, k : k + step]
        if k + step < n:
            X[k + step :].sub_(LD[k + step :, k : k + step] @ X[k : k + step])
        X[k : k + step] = _C._linalg["solve"](block.tril() + block.tril(-1).T, X[k : k + step])
        k += step
    k = n
    while k > 0:
        step = 1 if pivots[k - 1] > 0 else 2
        if k < n:
            X[k - step : k].sub_(LD[k:, k - step : k].T @ X[k:])
        exchange(k - 1, abs(pivots[k - 1]) - 1)
        k -= step
    return X


def ldl_applied(LD, pivots, B):
    """X of A X = B from the factors of symmetric matrices."""
    from ._functions import broadcast_shapes

    batch = broadcast_shapes(tuple(LD.shape[:-2]), tuple(B.shape[:-2]))
    n, columns = B.shape[-2:]
    LD = LD.detach().expand((*batch, n, n)).reshape((-1, n, n))
    rows = pivots.expand((*batch, n)).reshape((-1, n)).tolist()
    B = B.detach().expand((*batch, n, columns)).reshape((-1, n, columns))
    return _C.stack([_ldl_solved(*one) for one in zip(LD.unbind(0), rows, B.unbind(0))]).reshape((*batch, n, columns))


# --- Roots and polar forms, whose gradients stand equal singular values


class SquareRoot(Function):
    """The root of a positive semidefinite matrix; its derivative X has R X + X R = dA."""

    @staticmethod
    def forward(ctx, A):
        values, vectors = _C._linalg["eigh"](A.detach())
        roots = values.clamp(min=0).sqrt()
        ctx.save_for_backward(roots, vectors)
        return (vectors * roots.unsqueeze(-2)) @ vectors.mT

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        roots, vectors = ctx.saved_tensors
        inner = vectors.mT @ grad @ vectors / (roots.unsqueeze(-1) + roots.unsqueeze(-2))
        return vectors @ ((inner + inner.mT) / 2) @ vectors.mT


class Polar(Function):
    """U with orthonormal columns and the positive semidefinite H of A = U H."""

    @staticmethod
    def forward(ctx, A):
        left, values, right = _C._linalg["svd"](A.detach(), False)
        U, H = left @ right, right.mT @ (values.unsqueeze(-1) * right)
        ctx.save_for_backward(U, values, right.mT)
        return U, H

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_U, grad_H):
        U, values, V = ctx.saved_tensors
        of_H = V.mT @ grad_H @ V
        turned = (V.mT @ U.mT @ grad_U @ V - of_H * values.unsqueeze(-2)) / (values.unsqueeze(-1) + values.unsqueeze(-2))
        inside = U @ V @ (turned - turned.mT + of_H) @ V.mT
        outside = grad_U - U @ (U.mT @ grad_U)
        return inside + ((outside @ V) / values.unsqueeze(-2)) @ V.mT
