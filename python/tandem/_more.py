"""Functions of torch's made of others: Poisson counts, histograms, sums of segments, old forms of factorizations, low-rank ones."""

import builtins
import math

from . import _C
from ._arguments import into
from ._factorizations import geqrf, lu_apply, lu_packed, lu_unpack, orgqr, ormqr, triangular_solve
from ._results import named_result

__all__ = [
    "alpha_dropout_", "conv_tbc", "feature_alpha_dropout_", "feature_dropout_", "geqrf", "histogramdd", "lobpcg", "lu", "lu_solve",
    "lu_unpack", "orgqr", "ormqr", "pca_lowrank", "poisson", "segment_reduce", "svd_lowrank", "triangular_solve", "vmap",
]

_LuWithInfo = named_result("_lu_with_info", ["LU", "pivots", "info"])
_Histogramdd = named_result("histogramdd", ["hist", "bin_edges"])


# --- Samples, and vmap


def poisson(input, generator=None):
    """Counts of events of which there are `input` in the mean."""
    from .distributions.sampling import poisson_samples

    if not input.is_floating_point():
        kind = input.type().rpartition(".")[2].removesuffix("Tensor")
        raise NotImplementedError(f"\"poisson_{input.device.type}\" not implemented for '{kind}'")
    if bool((input < 0).any()):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return poisson_samples(input, generator)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """func.vmap: a function that applies func to each index of a dimension, in a loop."""
    from .func import vmap as mapped

    return mapped(func, in_dims, out_dims, randomness, chunk_size=chunk_size)


# --- Counts and segments


def histogramdd(input, bins, *, range=None, weight=None, density=False, out=None):
    """How many points, the last dimension being coordinates, lie in each box.

    bins: how many boxes there are along each coordinate, as a number or several; or tensors of edges, one for each coordinate.
    """
    count = input.size(-1)
    points = input.detach().reshape(-1, count)
    bins = [bins] * count if isinstance(bins, int) else list(bins)
    if len(bins) != count:
        raise RuntimeError(
            f"torch.histogramdd: Expected {count} sequences of bin edges for a {count}-dimensional histogram but got {len(bins)}"
        )
    weights = _C.ones(points.size(0), dtype=input.dtype, device=input.device) if weight is None else weight.detach().reshape(-1)
    edges, inside, place = [], _C.ones(points.size(0), dtype=_C.bool, device=input.device), 0
    for d, one in enumerate(bins):
        values = points[:, d].contiguous()
        if not isinstance(one, _C.Tensor):
            low, high = (range[2 * d], range[2 * d + 1]) if range is not None else _ends(values)
            if low > high:
                raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low} max {high} for dimension {d}")
            low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
            one = _C.linspace(low, high, one + 1, dtype=input.dtype, device=input.device)
        boxes = one.numel() - 1
        inside = inside & (values >= one[0]) & (values <= one[-1])
        place = place * boxes + (_C.searchsorted(one, values, right=True) - 1).clamp(0, boxes - 1)
        edges.append(one)
    sizes = [one.numel() - 1 for one in edges]
    hist = _C.zeros(math.prod(sizes), dtype=input.dtype, device=input.device).index_add(0, place[inside], weights[inside]).reshape(sizes)
    if density:
        hist = hist / hist.sum()
        for d, one in enumerate(edges):
            hist = hist / one.diff().reshape([-1 if e == d else 1 for e in builtins.range(count)])
    return _Histogramdd(hist, tuple(edges))



def _ends(values):
    return (float(values.min()), float(values.max())) if values.numel() else (0.0, 0.0)


def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """Sums, means, products, minima or maxima of neighbouring parts along `axis`, of these lengths or between these offsets."""
    if reduce not in ("sum", "mean", "max", "min", "prod"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if lengths is None:
        lengths = offsets.diff()
    if axis != lengths.dim() - 1:
        raise RuntimeError("segment_reduce(): Expected axis to be the last dimension of lengths (lengths.dim() - 1).")
    if not unsafe:
        if bool((lengths < 0).any()):
            raise RuntimeError("lengths contains negative value!")
        if bool((lengths.sum(-1) != data.size(axis)).any()):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
            )
    count, rest = lengths.size(-1), tuple(data.shape[axis + 1 :])
    flat = data.reshape((-1, *rest))
    # Segments of all rows are numbered one after another.
    numbers = _C.arange(lengths.numel(), device=data.device).repeat_interleave(lengths.reshape(-1).long())
    if numbers.numel() != flat.size(0):
        raise RuntimeError("segment_reduce(): the lengths do not cover the data")
    start = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}[reduce] if initial is None else initial
    base = _C.full((lengths.numel(), *rest), float(start), dtype=data.dtype, device=data.device)
    places = numbers.reshape((-1, *[1] * len(rest))).expand(flat.shape)
    if reduce in ("sum", "mean"):
        result = base.scatter_add(0, places, flat)
    else:
        result = base.scatter_reduce(0, places, flat, {"prod": "prod", "max": "amax", "min": "amin"}[reduce], include_self=True)
    if reduce == "mean":
        sizes = lengths.reshape((-1, *[1] * len(rest))).to(data.dtype)
        result = result / sizes if initial is None else _C.where(sizes == 0, result, result / sizes.clamp(min=1))
    return result.reshape((*lengths.shape[:-1], count, *rest))


# --- Factorizations


def lu(A, pivot=True, get_infos=False, out=None):
    """The old form of linalg.lu_factor: L and U in one matrix, the rows exchanged, and with get_infos where U has its first zero."""
    made = lu_packed(A, pivot)
    if get_infos:
        return _LuWithInfo(*made)
    if bool((made[2] != 0).any()):
        from .linalg import _check_lu

        _check_lu("torch.linalg.lu_factor_ex", made[2])
    return made[0], made[1]


def lu_solve(b, LU_data, LU_pivots, *, out=None):
    """X of A X = b from the factors of A. The old form of linalg.lu_solve."""
    return into(out, lu_apply(LU_data, LU_pivots, b), "lu_solve")


def svd_lowrank(A, q=6, niter=2, M=None):
    """U, S and V of an approximation of A - M by q singular values: Halko, Martinsson and Tropp (2009), algorithms 4.4 and 5.1."""
    q = 6 if q is None else q
    rows, columns = A.shape[-2:]
    if M is not None:
        A = A - M.expand(A.shape)
    if rows < columns:
        U, S, V = svd_lowrank(A.mT, q, niter)
        return V, S, U
    orthonormal = lambda matrix: _C._linalg["qr"](matrix)[0]  # noqa: E731
    Q = orthonormal(A @ _C.randn((columns, q), dtype=A.dtype, device=A.device))
    for _ in builtins.range(niter):
        Q = orthonormal(A @ orthonormal(A.mT @ Q))
    U, S, Vh = _C._linalg["svd"](Q.mT @ A, False)
    return Q @ U, S, Vh.mT


def pca_lowrank(A, q=None, center=True, niter=2):
    """U, S and V of an approximation of A, whose rows are samples, by q principal components; columns are centered first."""
    rows, columns = A.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(rows, columns)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


def lobpcg(
    A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None, tracker=None, ortho_iparams=None,
    ortho_fparams=None, ortho_bparams=None,
):
    """The k largest (smallest where not `largest`) eigenvalues of A x = value B x for symmetric matrices, and the vectors.

    They come from linalg.eigh, whole and exact: what steers PyTorch's iteration (X but for its number of columns, iK, niter, tol, method,
    tracker, ortho_*) is accepted and changes nothing.
    """
    if A.size(-1) != A.size(-2):
        raise ValueError(f"A must be square matrices, got {A.size(-2)} by {A.size(-1)}")
    k = (1 if X is None else X.size(-1)) if k is None else k
    factor = None if B is None else _C._linalg["cholesky"](B)
    if factor is not None:
        solve = _C._linalg["solve_triangular"]
        A = solve(factor, solve(factor, A, upper=False).mT, upper=False).mT
    values, vectors = _C._linalg["eigh"]((A + A.mT) / 2)
    if largest is None or largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    values, vectors = values[..., :k], vectors[..., :k]
    return values, vectors if factor is None else solve(factor.mT, vectors, upper=True)


# --- Layers by their old names


def conv_tbc(input, weight, bias, pad=0):
    """A convolution over (time, batch, channels) with a weight (width, input channels, output channels)."""
    return _C.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


def _into_input(function):
    """The function, whose result goes into its first argument."""

    def in_place(input, p=0.5, train=True):
        return input.copy_(function(input, p, train))

    in_place.__name__ = in_place.__qualname__ = f"{function.__name__}_"
    in_place.__doc__ = f"{function.__name__}, into input."
    return in_place


alpha_dropout_, feature_alpha_dropout_ = _into_input(_C.alpha_dropout), _into_input(_C.feature_alpha_dropout)
feature_dropout_ = _into_input(_C.feature_dropout)


# --- Methods of Tensor


for _method in (lu, lu_solve, geqrf, orgqr, ormqr, triangular_solve):
    _C._extend(_C.Tensor, _method.__name__, _method)
