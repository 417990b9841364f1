"""Functions that are made of others: parts put back into a tensor, windows, whole numbers, distances, old names of factorizations."""

import builtins
import collections
import itertools
import math

from . import _C

__all__ = [
    "select_scatter",
    "slice_scatter",
    "diagonal_scatter",
    "as_strided_scatter",
    "combinations",
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "gcd",
    "gcd_",
    "lcm",
    "lcm_",
    "histogram",
    "mvlgamma",
    "pdist",
    "renorm",
    "pinverse",
    "svd",
    "cholesky_solve",
    "cholesky_inverse",
    "matrix_power",
    "matrix_exp",
    "nonzero_static",
    "isreal",
    "is_signed",
    "is_same_size",
    "resize_as_",
    "split_with_sizes",
    "ger",
    "narrow_copy",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "to_dlpack",
    "addmv_",
    "imag",
    "cond",
    "while_loop",
]


# --- Parts put back into a tensor


def _put_back(input, src, part, what):
    """A copy of input with src in the place that `part` picks."""
    result = input.clone()
    place = part(result)
    if place.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the {what} of self. src size = {list(src.shape)}, {what} size = {list(place.shape)}"
        )
    place.copy_(src)
    return result


def select_scatter(input, src, dim, index):
    """A copy of input with src at one index of a dimension."""
    return _put_back(input, src, lambda x: x.select(dim, index), "slice")


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy of input with src in a slice of a dimension."""
    at = (slice(None),) * (dim % input.dim()) + (slice(start, end, step),)
    return _put_back(input, src, lambda x: x[at], "slice")


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy of input with src on a diagonal."""
    return _put_back(input, src, lambda x: x.diagonal(offset, dim1, dim2), "slice")


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy of input with src where as_strided would look."""
    offset = input.storage_offset() if storage_offset is None else storage_offset
    return _put_back(input, src, lambda x: x.as_strided(size, stride, offset), "slice")


def combinations(input, r=2, with_replacement=False):
    """All choices of r elements of a vector, a row each."""
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return _C.empty(0, dtype=input.dtype, device=input.device)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(builtins.range(input.numel()), r))
    chosen = _C.tensor(rows, dtype=_C.int64).reshape(len(rows), r).to(input.device)
    return input[chosen]


# --- Windows


def _window(name, length, periodic, shape, dtype, device, requires_grad):
    """Values of shape(n, last) for n from 0 to last; a periodic window leaves the last one out."""
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 2:
        return _C.ones(length, dtype=dtype, device=device, requires_grad=requires_grad)
    last = length if periodic else length - 1
    n = _C.arange(length, dtype=_C.float64, device=device)
    return shape(n, last).to(dtype).requires_grad_(requires_grad)


def _cosines(*weights):
    """w0 - w1 cos(2 pi n / last) + w2 cos(4 pi n / last)."""

    def shape(n, last):
        terms = [(-1) ** k * weight * _C.cos(n * (2 * math.pi * k / last)) for k, weight in enumerate(weights) if k]
        return builtins.sum(terms, weights[0])

    return shape


def hann_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A raised cosine: sin^2(pi n / last)."""
    return _window("hann_window", window_length, periodic, _cosines(0.5, 0.5), dtype, device, requires_grad)


def hamming_window(
    window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    """alpha - beta cos(2 pi n / last)."""
    return _window("hamming_window", window_length, periodic, _cosines(alpha, beta), dtype, device, requires_grad)


def blackman_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """0.42 - 0.5 cos(2 pi n / last) + 0.08 cos(4 pi n / last)."""
    return _window("blackman_window", window_length, periodic, _cosines(0.42, 0.5, 0.08), dtype, device, requires_grad)


def bartlett_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A triangle: 1 - |2 n / last - 1|."""
    return _window("bartlett_window", window_length, periodic, lambda n, last: 1 - (n * (2 / last) - 1).abs(), dtype, device, requires_grad)


# --- Whole numbers


def _whole(name, a, b):
    if a.is_floating_point() or b.is_floating_point() or _C.bool in (a.dtype, b.dtype):
        wrong = a if a.is_floating_point() or a.dtype is _C.bool else b
        kind = wrong.type().rpartition(".")[2].removesuffix("Tensor")
        raise NotImplementedError(f"\"{name}_{wrong.device.type}\" not implemented for '{kind}'")
    dtype = _C.promote_types(a.dtype, b.dtype)
    a, b = _C.broadcast_tensors([a.to(dtype), b.to(dtype)])
    return a.abs(), b.abs()


def gcd(input, other, *, out=None):
    """The largest number that divides both; Euclid's algorithm, which waits for the device at each of its steps."""
    a, b = _whole("gcd", input, other)
    while bool(b.any()):
        rest = _C.where(b == 0, b, _C.remainder(a, _C.where(b == 0, _C.ones_like(b), b)))
        a, b = _C.where(b == 0, a, b), rest
    return a.clone() if out is None else out.copy_(a)


def lcm(input, other, *, out=None):
    """The smallest positive number that both divide; 0 where one is 0."""
    a, b = _whole("lcm", input, other)
    divisor = gcd(a, b)
    result = _C.div(a, divisor.clamp(min=1), rounding_mode="trunc") * b
    return result if out is None else out.copy_(result)


def gcd_(input, other):
    """gcd, into input."""
    return input.copy_(gcd(input, other))


def lcm_(input, other):
    """lcm, into input."""
    return input.copy_(lcm(input, other))


# --- Statistics and distances

Histogram = collections.namedtuple("histogram", ["hist", "bin_edges"])


def histogram(input, bins, *, range=None, weight=None, density=False, out=None):
    """How many elements, or how much weight, lie in each bin, and where the bins end. bins: how many, or their ends in ascending order."""
    values = input.detach().reshape(-1)
    if isinstance(bins, _C.Tensor):
        edges = bins
    else:
        low, high = range if range is not None else (float(values.min()), float(values.max())) if values.numel() else (0.0, 0.0)
        if low > high:
            raise RuntimeError(f"torch.histogram: min should not exceed max, but got min {low} max {high}")
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = _C.linspace(low, high, bins + 1, dtype=input.dtype, device=input.device)
    count = edges.numel() - 1
    weights = _C.ones_like(values) if weight is None else weight.detach().reshape(-1)
    inside = (values >= edges[0]) & (values <= edges[-1])
    at = (_C.searchsorted(edges, values, right=True) - 1).clamp(0, count - 1)
    hist = _C.zeros(count, dtype=input.dtype, device=input.device).index_add(0, at[inside], weights[inside])
    if density:
        hist = hist / (hist.sum() * edges.diff())
    return Histogram(hist, edges)


def mvlgamma(input, p):
    """The logarithm of the multivariate gamma function of p dimensions."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    input = input if input.is_floating_point() else input.to(_C.get_default_dtype())
    shifts = _C.arange(p, dtype=input.dtype, device=input.device) / -2
    return _C.lgamma(input.unsqueeze(-1) + shifts).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


def pdist(input, p=2):
    """The distances by the p-norm between all pairs of rows, each pair once."""
    if input.dim() != 2:
        raise RuntimeError("pdist only supports 2D tensors, got: " + f"{input.dim()}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows, columns = _C.triu_indices(input.size(0), input.size(0), 1, device=input.device)
    return _C._linalg["vector_norm"](input[rows] - input[columns], float(p), [1], False)


def renorm(input, p, dim, maxnorm, *, out=None):
    """The slices along a dimension whose p-norm is above maxnorm, scaled down to it."""
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions")
    others = [d for d in builtins.range(input.dim()) if d != dim % input.dim()]
    norms = _C._linalg["vector_norm"](input, float(p), others, True)
    result = input * _C.where(norms > maxnorm, maxnorm / (norms + 1e-7), _C.ones_like(norms))
    return result if out is None else out.copy_(result)


def nonzero_static(input, *, size, fill_value=-1):
    """The first `size` rows of nonzero, filled up where there are fewer."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, but got {size}")
    found = _C._nonzero(input)[:size]
    missing = _C.full((size - found.size(0), input.dim()), fill_value, dtype=_C.int64, device=input.device)
    return _C.cat([found, missing])


# --- Factorizations by their old names

OldSvd = collections.namedtuple("svd", ["U", "S", "V"])


def svd(input, some=True, compute_uv=True):
    """U, S and V of U diag(S) Vᵀ = input. some: not more columns than S has. The old form of linalg.svd, which gives Vᵀ."""
    if not compute_uv:
        values = _C._linalg["svdvals"](input)
        zeros = [_C.zeros(*input.shape[:-2], n, n, dtype=input.dtype, device=input.device) for n in input.shape[-2:]]
        return OldSvd(zeros[0], values, zeros[1])
    U, S, Vh = _C._linalg["svd"](input, not some)
    return OldSvd(U, S, Vh.mT)


def pinverse(input, rcond=1e-15):
    """Moore and Penrose's inverse."""
    return _C._linalg["pinv"](input, rtol=rcond)


def cholesky_solve(B, L, upper=False, *, out=None):
    """X of A X = B, from the Cholesky factor of A."""
    solve = _C._linalg["solve_triangular"]
    lower = L.mT if upper else L
    result = solve(lower.mT, solve(lower, B, upper=False), upper=True)
    return result if out is None else out.copy_(result)


def cholesky_inverse(L, upper=False, *, out=None):
    """The inverse of A, from its Cholesky factor."""
    return cholesky_solve(_C.eye(L.size(-1), dtype=L.dtype, device=L.device).expand(L.shape), L, upper, out=out)


def matrix_power(input, n, *, out=None):
    """The matrix times itself n times; the inverse for negative n."""
    result = _C._linalg["matrix_power"](input, n)
    return result if out is None else out.copy_(result)


def matrix_exp(input):
    """The exponential of square matrices: a Taylor polynomial of the matrix scaled down by a power of two, squared as often."""
    if input.dim() < 2 or input.size(-1) != input.size(-2):
        raise RuntimeError(
            "linalg.matrix_exp: A must be batches of square matrices, but they are "
            f"{input.size(-2) if input.dim() > 1 else ''} by {input.size(-1) if input.dim() else ''} matrices"
        )
    if input.numel() == 0:
        return input.clone()
    largest = float(input.detach().abs().sum(-2).max())
    squarings = builtins.max(0, math.ceil(math.log2(largest)) + 2) if 0 < largest < math.inf else 0
    scaled = input / 2.0**squarings
    result = term = _C.eye(input.size(-1), dtype=input.dtype, device=input.device).expand(input.shape)
    for n in builtins.range(1, 19 if input.dtype is _C.float64 else 11):  # the norm is at most 1/4: the rest is below a bit
        term = term @ scaled / n
        result = result + term
    for _ in builtins.range(squarings):
        result = result @ result
    return result


# --- Facts


def isreal(input):
    """True everywhere: there are no complex dtypes."""
    return _C.ones_like(input, dtype=_C.bool)


def is_signed(input):
    """Whether its dtype has negative numbers."""
    return input.is_signed()


def is_same_size(input, other):
    """Whether both have the same sizes."""
    return input.shape == other.shape


def resize_as_(input, the_template, *, memory_format=None):
    """Takes the sizes of another tensor."""
    return input.resize_(the_template.shape)


def split_with_sizes(input, split_sizes, dim=0):
    """Parts along a dimension, of the sizes in a list."""
    return _C.split(input, list(split_sizes), dim)


def narrow_copy(input, dim, start, length):
    """A part of a dimension, in memory of its own."""
    return input.narrow(dim, start, length).clone()


def addmv_(input, mat, vec, *, beta=1, alpha=1):
    """addmv, into input."""
    return input.copy_(_C.addmv(input, mat, vec, beta=beta, alpha=alpha))


def to_dlpack(tensor):
    """The tensor as a DLPack capsule."""
    return tensor.__dlpack__()


def imag(input):
    """An error: there are no complex dtypes."""
    return input.imag


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) where pred is true, else false_fn(*operands)."""
    return true_fn(*operands) if pred else false_fn(*operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """The values of body_fn, given to it again while cond_fn of them is true."""
    values = tuple(carried_inputs)
    while cond_fn(*values):
        values = body_fn(*values)
        values = tuple(values) if isinstance(values, (tuple, list)) else (values,)
    return values


ger, unsafe_chunk = _C.outer, _C.chunk
unsafe_split = unsafe_split_with_sizes = _C.split


# --- Methods of Tensor alone


def fill_diagonal_(input, fill_value, wrap=False):
    """Sets the main diagonal. wrap: a tall matrix gets it again below a row in between."""
    if input.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if input.dim() > 2 and builtins.any(size != input.size(0) for size in input.shape):
        raise RuntimeError("all dimensions of input must be of equal length")
    height, step = input.size(0), builtins.sum(input.stride())
    places = builtins.min(input.shape)
    input.as_strided((places,), (step,), input.storage_offset()).fill_(fill_value)
    if wrap and input.dim() == 2:
        width = input.size(1)
        for first in builtins.range(width + 1, height, width + 1):
            rest = input[first:]
            rest.as_strided((builtins.min(rest.shape),), (step,), rest.storage_offset()).fill_(fill_value)
    return input


def sum_to_size(input, *size):
    """Sums of the dimensions that broadcasting made, so that it has this size."""
    size = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    added = input.dim() - len(size)
    if added < 0 or builtins.any(n not in (1, input.size(added + d)) for d, n in enumerate(size)):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(input.shape)}}}.")
    dims = list(builtins.range(added)) + [added + d for d, n in enumerate(size) if n == 1 and input.size(added + d) != 1]
    return input.sum(dims).reshape(size) if dims else input


def renorm_(input, p, dim, maxnorm):
    """renorm, into input."""
    return input.copy_(renorm(input, p, dim, maxnorm))


def mvlgamma_(input, p):
    """mvlgamma, into input."""
    return input.copy_(mvlgamma(input, p))


def new_empty_strided(input, size, stride, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor with these strides, of this one's dtype and device, whose elements are not set."""
    from ._functions import empty_strided

    return empty_strided(
        size,
        stride,
        dtype=input.dtype if dtype is None else dtype,
        device=input.device if device is None else device,
        requires_grad=requires_grad,
        pin_memory=pin_memory,
    )
