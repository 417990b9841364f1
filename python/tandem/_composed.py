"""Functions that are made of others: parts put back into a tensor, whole numbers, distances, old names of factorizations."""

import builtins
import itertools
import math

from . import _C
from ._arguments import into, takes
from ._functions import result_type
from ._results import named_result

__all__ = [
    "select_scatter",
    "slice_scatter",
    "diagonal_scatter",
    "as_strided_scatter",
    "combinations",
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
    "narrow_copy",
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


@takes("Tensor input, Tensor src, int dim, int index")
def select_scatter(input, src, dim, index):
    """A copy of input with src at one index of a dimension."""
    return _put_back(input, src, lambda x: x.select(dim, index), "slice")


@takes("Tensor input, Tensor src, int dim=0, int start=None, int end=None, int step=1")
def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy of input with src in a slice of a dimension."""
    at = (slice(None),) * (dim % input.dim()) + (slice(start, end, step),)
    return _put_back(input, src, lambda x: x[at], "slice")


@takes("Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1")
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy of input with src on a diagonal."""
    return _put_back(input, src, lambda x: x.diagonal(offset, dim1, dim2), "slice")


@takes("Tensor input, Tensor src, ints size, ints stride, int storage_offset=None")
def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy of input with src where as_strided would look."""
    offset = input.storage_offset() if storage_offset is None else storage_offset
    return _put_back(input, src, lambda x: x.as_strided(size, stride, offset), "slice")


@takes("Tensor input, int r=2, bool with_replacement=False")
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


# --- Whole numbers


def _whole(name, a, b):
    """The magnitudes of both, in their common dtype and of their common size."""
    dtype = result_type(a, b)
    if dtype.is_floating_point or dtype is _C.bool:
        kind = _C.empty(0, dtype=dtype).type().rpartition(".")[2].removesuffix("Tensor")
        raise NotImplementedError(f"\"{name}_{a.device.type}\" not implemented for '{kind}'")
    a, b = _C.broadcast_tensors([a.to(dtype), b.to(dtype)])
    return a.abs(), b.abs()


@takes("Tensor input, Tensor other, *, Tensor out=None")
def gcd(input, other, *, out=None):
    """The largest number that divides both; Euclid's algorithm, which waits for the device at each of its steps."""
    a, b = _whole("gcd", input, other)
    while bool(b.any()):
        rest = _C.where(b == 0, b, _C.remainder(a, _C.where(b == 0, _C.ones_like(b), b)))
        a, b = _C.where(b == 0, a, b), rest
    return into(out, a.clone(), "gcd")


@takes("Tensor input, Tensor other, *, Tensor out=None")
def lcm(input, other, *, out=None):
    """The smallest positive number that both divide; 0 where one is 0."""
    a, b = _whole("lcm", input, other)
    divisor = gcd(a, b)
    result = _C.div(a, divisor.clamp(min=1), rounding_mode="trunc") * b
    return into(out, result, "lcm")


@takes("Tensor input, Tensor other")
def gcd_(input, other):
    """gcd, into input."""
    return input.copy_(gcd(input, other))


@takes("Tensor input, Tensor other")
def lcm_(input, other):
    """lcm, into input."""
    return input.copy_(lcm(input, other))


# --- Statistics and distances

Histogram = named_result("histogram", ["hist", "bin_edges"])


@takes("Tensor input, Tensor bins, *, Tensor weight=None, bool density=False, Tensors out=None",
       "Tensor input, int bins=100, *, floats range=None, Tensor weight=None, bool density=False, Tensors out=None")
def histogram(input, bins=100, *, range=None, weight=None, density=False, out=None):
    """How many elements, or how much weight, lie in each bin, and where the bins end. bins: how many, or their ends in ascending order."""
    values = input.detach().reshape(-1)
    if isinstance(bins, _C.Tensor):
        edges = bins.clone()
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
    return Histogram(hist, edges) if out is None else Histogram(into(out[0], hist, "histogram"), into(out[1], edges, "histogram"))


@takes("Tensor input, int p, *, Tensor out=None")
def mvlgamma(input, p, *, out=None):
    """The logarithm of the multivariate gamma function of p dimensions."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    input = input if input.is_floating_point() else input.to(_C.get_default_dtype())
    shifts = _C.arange(p, dtype=input.dtype, device=input.device) / -2
    result = _C.lgamma(input.unsqueeze(-1) + shifts).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)
    return into(out, result, "mvlgamma")


@takes("Tensor input, float p=2")
def pdist(input, p=2):
    """The distances by the p-norm between all pairs of rows, each pair once."""
    if input.dim() != 2:
        raise RuntimeError("pdist only supports 2D tensors, got: " + f"{input.dim()}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows, columns = _C.triu_indices(input.size(0), input.size(0), 1, device=input.device)
    return _C._linalg["vector_norm"](input[rows] - input[columns], float(p), [1], False)


@takes("Tensor input, Number p, int dim, Number maxnorm, *, Tensor out=None")
def renorm(input, p, dim, maxnorm, *, out=None):
    """The slices along a dimension whose p-norm is above maxnorm, scaled down to it."""
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions")
    if not -input.dim() <= dim < input.dim():
        raise IndexError(f"Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {dim})")
    others = [d for d in builtins.range(input.dim()) if d != dim % input.dim()]
    norms = _C._linalg["vector_norm"](input, float(p), others, True)
    result = input * _C.where(norms > maxnorm, maxnorm / (norms + 1e-7), _C.ones_like(norms))
    return into(out, result, "renorm")


@takes("Tensor input, *, int size, int fill_value=-1")
def nonzero_static(input, *, size, fill_value=-1):
    """The first `size` rows of nonzero, filled up where there are fewer."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, but got {size}")
    found = _C._nonzero(input)[:size]
    missing = _C.full((size - found.size(0), input.dim()), fill_value, dtype=_C.int64, device=input.device)
    return _C.cat([found, missing])


# --- Factorizations by their old names

OldSvd = named_result("svd", ["U", "S", "V"])


@takes("Tensor input, bool some=True, bool compute_uv=True, *, Tensors out=None")
def svd(input, some=True, compute_uv=True, *, out=None):
    """U, S and V of U diag(S) Vᵀ = input. some: not more columns than S has. The old form of linalg.svd, which gives Vᵀ."""
    if compute_uv:
        U, S, Vh = _C._linalg["svd"](input, not some)
        parts = U, S, Vh.mT
    else:
        zeros = [_C.zeros(*input.shape[:-2], n, n, dtype=input.dtype, device=input.device) for n in input.shape[-2:]]
        parts = zeros[0], _C._linalg["svdvals"](input), zeros[1]
    return OldSvd(*parts if out is None else (into(each, part, "svd") for each, part in zip(out, parts)))


@takes("Tensor input, float rcond=1e-15")
def pinverse(input, rcond=1e-15):
    """Moore and Penrose's inverse."""
    return _C._linalg["pinv"](input, rtol=rcond)


@takes("Tensor input, Tensor input2, bool upper=False, *, Tensor out=None")
def cholesky_solve(input, input2, upper=False, *, out=None):
    """X of A X = input, from input2, the Cholesky factor of A."""
    solve = _C._linalg["solve_triangular"]
    lower = input2.mT if upper else input2
    result = solve(lower.mT, solve(lower, input, upper=False), upper=True)
    return into(out, result, "cholesky_solve")


@takes("Tensor input, bool upper=False, *, Tensor out=None")
def cholesky_inverse(input, upper=False, *, out=None):
    """The inverse of A, from its Cholesky factor."""
    return cholesky_solve(_C.eye(input.size(-1), dtype=input.dtype, device=input.device).expand(input.shape), input, upper, out=out)


@takes("Tensor input, int n, *, Tensor out=None")
def matrix_power(input, n, *, out=None):
    """The matrix times itself n times; the inverse for negative n."""
    result = _C._linalg["matrix_power"](input, n)
    return into(out, result, "matrix_power")


@takes("Tensor input")
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


@takes("Tensor input")
def isreal(input):
    """True everywhere: there are no complex dtypes."""
    return _C.ones_like(input, dtype=_C.bool)


@takes("Tensor input")
def is_signed(input):
    """Whether its dtype has negative numbers."""
    return input.is_signed()


@takes("Tensor input, Tensor other")
def is_same_size(input, other):
    """Whether both have the same sizes."""
    return input.shape == other.shape


def resize_as_(input, the_template, *, memory_format=None):
    """Takes the sizes of another tensor."""
    return input.resize_(the_template.shape)


@takes("Tensor input, ints split_sizes, int dim=0")
def split_with_sizes(input, split_sizes, dim=0):
    """Parts along a dimension, of the sizes in a list."""
    return _C.split(input, list(split_sizes), dim)


@takes("Tensor input, int dim, int start, int length, *, Tensor out=None")
def narrow_copy(input, dim, start, length, *, out=None):
    """A part of a dimension, in memory of its own."""
    result = input.narrow(dim, start, length).clone()
    return into(out, result, "narrow_copy")


@takes("Tensor input, Tensor mat, Tensor vec, *, Number beta=1, Number alpha=1")
def addmv_(input, mat, vec, *, beta=1, alpha=1):
    """addmv, into input."""
    return input.copy_(_C.addmv(input, mat, vec, beta=beta, alpha=alpha))


def to_dlpack(tensor):
    """The tensor as a DLPack capsule."""
    return tensor.__dlpack__()


@takes("Tensor input")
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


@takes("Tensor input, int split_size, int dim=0")
def unsafe_split(input, split_size, dim=0):
    """split."""
    return _C.split(input, split_size, dim)


@takes("Tensor input, ints split_sizes, int dim=0")
def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """split_with_sizes."""
    return _C.split(input, list(split_sizes), dim)


# --- Methods of Tensor alone


@takes("Tensor input, Number fill_value, bool wrap=False")
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


@takes("Tensor input, Number p, int dim, Number maxnorm")
def renorm_(input, p, dim, maxnorm):
    """renorm, into input."""
    return input.copy_(renorm(input, p, dim, maxnorm))


@takes("Tensor input, int p")
def mvlgamma_(input, p):
    """mvlgamma, into input."""
    if not input.is_floating_point():
        raise RuntimeError(f"mvlgamma: result type {input.type().rpartition('.')[2].removesuffix('Tensor')} can't be cast to the desired output type Float")
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
