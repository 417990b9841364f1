"""Functions of PyTorch's that take any number of tensors, or forms that C++ has no signature for."""

import builtins
import functools
import math

from . import _C
from ._arguments import into, takes
from ._results import named_result
from .storage import TypedStorage, UntypedStorage

__all__ = ["is_tensor", "is_floating_point", "is_complex", "is_nonzero", "numel", "nonzero", "clone", "detach", "einsum", "tensordot",
           "meshgrid", "broadcast_shapes", "broadcast_tensors", "block_diag", "cartesian_prod", "chain_matmul", "atleast_1d",
           "atleast_2d", "atleast_3d", "norm", "asarray", "scalar_tensor", "from_dlpack", "result_type", "split", "unravel_index",
           "is_storage", "typename", "embedding", "batch_norm", "det", "inverse", "cholesky", "empty_strided", "range", "numpy_T",
           "complex", "empty_permuted", "set_flush_denormal", "get_device", "index_put", "index_put_", "fill", "slogdet", "logdet",
           "conj", "conj_physical", "real", "resolve_conj", "resolve_neg", "is_inference", "is_neg", "is_conj", "is_distributed",
           "view_as_real", "sym_int", "adjoint", "clamp_", "clamp_max_", "clamp_min_", "clip_", "detach_", "fill_", "logit_",
           "nan_to_num_", "zero_", "as_strided_"]


def is_tensor(obj):
    """Whether it is a tensor."""
    return isinstance(obj, _C.Tensor)


def _assert(condition, message):
    """AssertionError with the message where the condition does not hold."""
    assert condition, message


def is_storage(obj):
    """Whether it is a storage, of bytes or of elements."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


def typename(obj):
    """The name of its type, of tensors with dtype and device; of a class or function its own name."""
    if isinstance(obj, _C.Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = "" if named.__module__ in ("builtins", None) else f"{named.__module__}."
    return module + named.__qualname__


def is_floating_point(input):
    """Whether its elements are floating numbers."""
    return input.is_floating_point()


def is_complex(input):
    """False: there are no complex dtypes."""
    return False


def is_nonzero(input):
    """Whether the one element is not zero."""
    if input.numel() != 1:
        raise RuntimeError("Boolean value of Tensor with " + ("no values" if input.numel() == 0 else "more than one value") + " is ambiguous")
    return bool(input)


def numel(input):
    """How many elements it has."""
    return input.numel()


@takes("Tensor input")
def get_device(input):
    """The number of its GPU; -1 on the CPU."""
    return input.get_device()


def nonzero(input, *, out=None, as_tuple=False):
    """Where the elements are not zero: a row of indices for each, or with as_tuple one tensor of indices for each dimension."""
    found = _C._nonzero(input)
    if as_tuple:
        if out is not None:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        return found.unbind(1) if input.dim() else (_C.zeros(found.size(0), dtype=_C.int64, device=input.device),)
    return into(out, found, "nonzero")


def clone(input, *, memory_format=None):
    """A copy, with its place in the graph."""
    return input.clone()


def detach(input):
    """The same values without history."""
    return input.detach()


def _several(tensors):
    """f(a, b) and f([a, b]) are the same."""
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)


def einsum(equation, *operands):
    """A sum of products by an equation such as 'ij,jk->ik'; also in the form einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    if not operands and isinstance(equation, str):
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list")
    if not isinstance(equation, str):
        return _C._einsum(*_from_sublists((equation, *operands)))
    return _C._einsum(equation, _several(operands))


def _from_sublists(args):
    """The equation of the form with lists of numbers."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def text(numbers):
        return "".join("..." if n is Ellipsis else letters[n] for n in numbers)
    pairs = len(args) // 2
    equation = ",".join(text(args[2 * i + 1]) for i in builtins.range(pairs))
    if len(args) % 2:
        equation += "->" + text(args[-1])
    return equation, [args[2 * i] for i in builtins.range(pairs)]


def tensordot(a, b, dims=2, out=None):
    """Sums of products over several dimensions: the last `dims` of a with the first of b, or two lists of dimensions."""
    if isinstance(dims, _C.Tensor):
        dims = dims.tolist()
    if isinstance(dims, (list, tuple)):
        first, second = dims
        first, second = ([n] if isinstance(n, int) else list(n) for n in (first, second))
    else:
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > builtins.min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        first, second = list(builtins.range(a.dim() - dims, a.dim())), list(builtins.range(dims))
    result = _C._tensordot(a, b, first, second)
    return into(out, result, "tensordot")


def meshgrid(*tensors, indexing=None):
    """Grids of coordinates. indexing: 'ij', the default, or 'xy'."""
    return _C._meshgrid(_several(tensors), "ij" if indexing is None else indexing)


def broadcast_shapes(*shapes):
    """The size that tensors of these sizes have together."""
    sizes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result = []
    for at in builtins.range(1, 1 + (0 if not sizes else sorted(map(len, sizes))[-1])):
        size = 1
        for shape in sizes:
            here = shape[-at] if at <= len(shape) else 1
            if here < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({here}): ({here})")
            if size != 1 and here not in (1, size):
                raise RuntimeError(f"Attempting to broadcast a dimension of length {here} at {-at}! "
                                   f"Mismatching argument at index {sizes.index(shape)} had {shape}; but expected shape should be broadcastable to {[size]}")
            size = here if here != 1 else size
        result.insert(0, size)
    return _C.Size(result)


def broadcast_tensors(*tensors):
    """The tensors, expanded to a size in common."""
    return _C.broadcast_tensors(_several(tensors))


def block_diag(*tensors):
    """A matrix with the tensors as blocks on its diagonal."""
    return _C.block_diag(_several(tensors))


def cartesian_prod(*tensors):
    """All combinations of elements, a row each."""
    return _C.cartesian_prod(_several(tensors))


def chain_matmul(*matrices, out=None):
    """The product of several matrices, in the order that takes the fewest multiplications."""
    matrices = _several(matrices)
    result = _C.chain_matmul(matrices)
    return into(out, result.clone() if len(matrices) == 1 else result, "chain_matmul")


def _atleast(function):
    def at_least(*tensors):
        """Tensors with dimensions of size 1 in front where they have too few."""
        if len(tensors) == 1 and isinstance(tensors[0], _C.Tensor):
            return function(tensors[0])
        return tuple(function(t) for t in _several(tensors))
    at_least.__name__ = at_least.__qualname__ = function.__name__
    return at_least


atleast_1d, atleast_2d, atleast_3d = (_atleast(getattr(_C, f"atleast_{n}d")) for n in "123")


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The norm of vectors or matrices, of the whole tensor without `dim`."""
    if dtype is not None:
        input = input.to(dtype)
    if isinstance(p, str):
        if p not in ("fro", "nuc"):
            raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
        if p == "nuc":
            result = _C._linalg["matrix_norm"](input, "nuc", (-2, -1) if dim is None else dim, keepdim)
            return into(out, result, "norm")
        p = 2
    p = 2.0 if p is None else float(p)
    dims = list(builtins.range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    result = _C._linalg["vector_norm"](input, p, dims, keepdim) if dims or input.dim() == 0 else _C._linalg["vector_norm"](input, p)
    return into(out, result, "norm")


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """A tensor of the object, over its memory where that can be and `copy` is not True; a tensor is given back itself, with its history."""
    if isinstance(obj, _C.Tensor):
        _refuse_to_share(obj, dtype, device, copy)
        made = obj.clone() if copy else obj
    elif hasattr(obj, "__dlpack__") and not hasattr(obj, "__array__"):
        made = from_dlpack(obj).clone() if copy else from_dlpack(obj)
    elif copy is False and not hasattr(obj, "__array__"):
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    else:  # numbers are read as the dtype at once: a float32 in between would round them
        made = _C.tensor(obj, dtype=dtype) if copy else _C.as_tensor(obj, dtype=dtype)
    made = made.to(device, dtype) if device is not None or dtype is not None else made
    if requires_grad is not None and requires_grad != made.requires_grad:
        made = (made if made.is_leaf else made.detach()).requires_grad_(requires_grad)
    return made


def _refuse_to_share(tensor, dtype, device, copy):
    """ValueError where `copy` is False and only a copy can have this dtype or device."""
    if copy is False and dtype is not None and dtype != tensor.dtype:
        raise ValueError(f"can't alias tensor with dtype '{tensor.dtype}' into dtype '{dtype}'. Leave out copy=False")
    if copy is False and device is not None and _C.device(device) != tensor.device:
        raise ValueError(f"can't alias tensor from device '{tensor.device}' to '{device}'. Leave out copy=False")


def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor without dimensions."""
    return _C.tensor(s, dtype=_C.get_default_dtype() if dtype is None else dtype, device=device, requires_grad=requires_grad)


def from_dlpack(ext_tensor):
    """A tensor over the memory of another library's, or of a DLPack capsule."""
    if hasattr(ext_tensor, "__dlpack__"):
        try:
            ext_tensor = ext_tensor.__dlpack__(max_version=(1, 0))
        except TypeError:  # it knows DLPack from before versions
            ext_tensor = ext_tensor.__dlpack__()
    return _C._from_dlpack_capsule(ext_tensor)


def result_type(tensor1, tensor2):
    """The dtype of tensor1 + tensor2."""
    def one(value):
        return _C.empty(0, dtype=value.dtype).reshape(0) if isinstance(value, _C.Tensor) and value.dim() else value.detach().cpu() if isinstance(value, _C.Tensor) else value
    a, b = one(tensor1), one(tensor2)
    if not isinstance(a, _C.Tensor):
        a = _C.tensor(a)
        if not isinstance(b, _C.Tensor):
            b = _C.tensor(b)
    return (a + b).dtype if not (a.dtype is _C.bool and isinstance(b, _C.Tensor) and b.dtype is _C.bool) else _C.bool


def split(tensor, split_size_or_sections, dim=0):
    """Parts along a dimension, of one size or of the sizes in a list."""
    return tensor.split(split_size_or_sections, dim)


def unravel_index(indices, shape):
    """Indices into a flattened tensor as one index for each dimension."""
    if not isinstance(indices, _C.Tensor):
        raise TypeError(f"expected 'indices' to be integer, but got {type(indices)}")
    if indices.is_floating_point() or indices.dtype is _C.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if builtins.any(size < 0 for size in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    parts = []
    for size in reversed(shape):
        parts.insert(0, indices % size)
        indices = indices // size
    return tuple(parts)


@takes("ints size, ints stride, *, dtype dtype=None, object layout=None, object device=None, object pin_memory=None, bool requires_grad=False")
def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor with these strides, whose elements are not set."""
    elements = 0 if builtins.any(n == 0 for n in size) else 1 + builtins.sum((n - 1) * s for n, s in zip(size, stride))
    made = _C.as_strided(_C.empty(elements, dtype=dtype, device=device, pin_memory=pin_memory), size, stride)
    return made.requires_grad_(requires_grad)


@takes("ints size, ints physical_layout, *, dtype dtype=None, object layout=None, object device=None, object pin_memory=None, bool requires_grad=False")
def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor whose dimensions lie in memory in another order; its elements are not set."""
    if len(size) != len(physical_layout):
        raise RuntimeError("Number of dimensions in size does not match the length of the physical_layout; i.e. "
                           f"len(size) = {len(size)} is not equal to len(physical_layout) = {len(physical_layout)}")
    if len(set(physical_layout)) != len(physical_layout):
        raise RuntimeError("Duplicate dim not allowed")
    made = _C.empty([size[d] for d in physical_layout], dtype=dtype, device=device, pin_memory=pin_memory)
    order = [list(physical_layout).index(d) for d in builtins.range(len(size))]
    return made.permute(order).requires_grad_(requires_grad)


def range(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """From start to end, both included: the old form of arange."""
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = math.floor((end - start) / step) + 1
    return _C.arange(start, start + step * (count - 0.5), step, dtype=_C.float32 if dtype is None else dtype, device=device, requires_grad=requires_grad)


def cholesky(input, upper=False, *, out=None):
    """The Cholesky factor of a positive definite matrix."""
    return _C._linalg["cholesky"](input, upper=upper)


Slogdet = named_result("slogdet", ["sign", "logabsdet"])


@takes("Tensor input")
def slogdet(input):
    """The sign and the logarithm of the determinant."""
    return Slogdet(*_C._linalg["slogdet"](input))


@takes("Tensor input")
def logdet(input):
    """The logarithm of the determinant; nan where that is negative."""
    if input.dim() >= 2 and input.size(-1) != input.size(-2):
        raise RuntimeError(f"logdet: A must be batches of square matrices, but they are {input.size(-2)} by {input.size(-1)} matrices")
    sign, value = _C._linalg["slogdet"](input)
    return _C.where(sign < 0, _C.full_like(value, math.nan), value)


@takes("Tensor input, Tensors indices, Tensor values, bool accumulate=False")
def index_put(input, indices, values, accumulate=False):
    """A copy of input with values at the indices."""
    return input.clone().index_put_(indices, values, accumulate)


def index_put_(input, indices, values, accumulate=False):
    """Puts values at the indices."""
    return input.index_put_(indices, values, accumulate)


@takes("Tensor input, Tensor value", "Tensor input, Number value")
def fill(input, value):
    """A tensor of input's size full of the value."""
    return input.clone().fill_(value)


def conj(input):
    """Itself: the elements are real."""
    return input


real = conj_physical = resolve_conj = resolve_neg = conj


@takes("Tensor input")
def is_inference(input):
    """Whether it was made in a block of inference_mode, and not as a view of a tensor from outside."""
    return input.is_inference()


@takes("Tensor input")
def is_neg(input):
    """False: no tensor of tandem's has that."""
    return False


is_conj = is_distributed = is_neg


def view_as_real(input):
    """Not there: there are no complex dtypes."""
    raise NotImplementedError("view_as_real is only supported for complex tensors, and tandem has none")


def complex(real, imag, *, out=None):
    """Not there: there are no complex dtypes."""
    raise NotImplementedError("complex: tandem has no complex dtypes")


@takes("Tensor input")
def adjoint(input):
    """The last two dimensions exchanged: the elements are real."""
    if input.dim() == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return input.mT if input.dim() else input


def numpy_T(input):
    """The dimensions in the other order."""
    return input.T


def set_flush_denormal(mode):
    """False: numbers are not flushed."""
    return False


def sym_int(a):
    """The number as an int."""
    return int(a)


def _in_place(name):
    def function(input, *args, **kwargs):
        return getattr(input, name)(*args, **kwargs)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"input.{name}(...)."
    return function


clamp_, clamp_max_, clamp_min_, clip_, detach_ = (_in_place(name) for name in ("clamp_", "clamp_max_", "clamp_min_", "clip_", "detach_"))
fill_, logit_, nan_to_num_, zero_, as_strided_ = (_in_place(name) for name in ("fill_", "logit_", "nan_to_num_", "zero_", "as_strided_"))


@takes("Tensor input")
def det(input):
    """The determinant of square matrices."""
    return _C._linalg["det"](input)


@takes("Tensor input, *, Tensor out=None")
def inverse(input, *, out=None):
    """The inverses of square matrices."""
    return _C._linalg["inv"](input, out=out)


@takes("Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False")
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Rows of weight, by their numbers. nn.functional.embedding has the numbers first."""
    return _C.embedding(indices, weight, padding_idx=None if padding_idx == -1 else padding_idx, scale_grad_by_freq=scale_grad_by_freq)


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """nn.functional.batch_norm with its arguments in another order."""
    return _C.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _of_tensor(function):
    """The function, with PyTorch's TypeError where its first argument is no tensor."""
    @functools.wraps(function)
    def checked(input, *args, **kwargs):
        if not isinstance(input, _C.Tensor):
            raise TypeError(f"{function.__name__}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        return function(input, *args, **kwargs)
    return checked


numel, is_nonzero, clone, detach, real, conj, is_floating_point, is_complex = map(_of_tensor, (numel, is_nonzero, clone, detach, real, conj, is_floating_point, is_complex))
