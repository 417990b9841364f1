"""Weights that stay orthogonal: a parametrization by the matrix exponential, Cayley's map or reflections."""

from tandem import _C, linalg
from tandem._factorizations import geqrf, householder_product
from tandem._grad_mode import no_grad
from tandem.nn.modules.module import Module
from tandem.nn.utils import parametrize

_MAPS = ("matrix_exp", "cayley", "householder")


def _diagonal(matrix):
    return _C.diagonal(matrix, dim1=-2, dim2=-1)


def _made_orthogonal(A):
    """The Q of A = Q R with a positive diagonal of R."""
    X, tau = geqrf(A)
    return householder_product(X, tau) * _diagonal(X).sign().unsqueeze(-2)


class _Orthogonal(Module):
    """Any matrix as one with orthonormal columns, or rows where it is wide. With a base, the map is from where that is."""

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def _of_tall(self, X):
        n, k = X.shape[-2:]
        if self.orthogonal_map == "householder":
            A = X.tril(-1)
            tau = 2 / (1 + (A * A).sum(-2))
            return householder_product(A, tau) * _diagonal(X).to(_C.int32).unsqueeze(-2)
        X = X.tril()
        if n != k:
            X = _C.cat([X, _C.zeros((*X.shape[:-1], n - k), dtype=X.dtype, device=X.device)], -1)
        A = X - X.mT
        if self.orthogonal_map == "matrix_exp":
            Q = linalg.matrix_exp(A)
        else:
            eye = _C.eye(n, dtype=A.dtype, device=A.device)
            Q = _C._linalg["solve"](eye - 0.5 * A, eye + 0.5 * A)
        return Q if n == k else Q[..., :k]

    def forward(self, X):
        wide = X.size(-2) < X.size(-1)
        Q = self._of_tall(X.mT if wide else X)
        if "base" in self._buffers:
            Q = self.base @ Q
        return Q.mT if wide else Q

    @no_grad()
    def right_inverse(self, Q):
        """A matrix whose image is Q."""
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        wide = Q.size(-2) < Q.size(-1)
        Q = Q.mT if wide else Q
        n, k = Q.shape[-2:]
        if "base" not in self._buffers:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when use_trivialization=False."
                )
            A, tau = geqrf(Q)
            signs = _diagonal(A).sign() * _C.where(tau == 0, -_C.ones_like(tau), _C.ones_like(tau))
            made = A.tril(-1)
            _diagonal(made).copy_(signs)
            return made.mT if wide else made
        if n == k:
            gram = Q.mT @ Q
            tolerance = 10 * n * (1e-15 if Q.dtype is _C.float64 else 1e-7)
            near = bool((gram - _C.eye(n, dtype=Q.dtype, device=Q.device)).abs().max() < tolerance)
            Q = Q.clone() if near else _made_orthogonal(Q)
        else:
            rest = _C.randn((*Q.shape[:-1], n - k), dtype=Q.dtype, device=Q.device)
            Q = _made_orthogonal(_C.cat([Q, rest], -1))
        self.base = Q
        made = _C.zeros(tuple(self.shape), dtype=Q.dtype, device=Q.device)
        _diagonal(made).fill_(-1.0)
        return made


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Makes the parameter `name`, a matrix or a batch of them, orthogonal whenever it is read.

    orthogonal_map: 'matrix_exp', 'cayley' or 'householder'; the first for square matrices, the last for others where it is not given.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, made, unsafe=True)
    return module
