"""What of Tensor is written in Python: NumPy, pickling, copying, formatting, hooks' handles, and the forms of old programs."""

import copyreg
import warnings

from . import _C, _composed, _functions, _old_forms, _statistics
from ._bits import frexp, nextafter
from ._formats import strided
from ._hooks import CallHandle
from ._legacy import legacy_tensor
from .storage import TypedStorage, UntypedStorage

Tensor = _C.Tensor


def new_tensor(cls, *args, **kwargs):
    """Tensor(...): of sizes, of a sequence, of another tensor; for a class below Tensor, over the tensor that is given."""
    device = kwargs.pop("device", None)
    kwargs.pop("requires_grad", None) if cls is not Tensor else None
    if cls is Tensor:
        if kwargs:
            raise TypeError(f"new() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if len(args) == 1 and isinstance(args[0], Tensor):
            return args[0].detach()
        return legacy_tensor(_C.get_default_dtype(), device, args)
    data = args[0] if len(args) >= 1 and isinstance(args[0], Tensor) else legacy_tensor(_C.get_default_dtype(), device, args)
    return Tensor._make_subclass(cls, data)


def _register_hook(self, hook):
    """Calls hook(grad) with the gradient of this tensor; what it returns takes its place."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    number = self._register_hook(hook)
    return CallHandle(lambda: self._remove_hook(number))


def _register_post_accumulate_grad_hook(self, hook):
    """Calls hook(param) each time backward has added to this leaf's .grad."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self.grad_fn is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    number = self._register_post_accumulate_grad_hook(hook)
    return CallHandle(lambda: self._remove_hook(number))


def _numpy(self, *, force=False):
    """The elements as an array over the same memory."""
    import numpy
    if force:
        self = self.detach().cpu()
    if self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return numpy.asarray(memoryview(self)) if self.dim() else numpy.frombuffer(memoryview(self), dtype=_numpy_name(self.dtype)).reshape(())


def _numpy_name(dtype):
    return repr(dtype).rsplit(".", 1)[-1]


def _array(self, dtype=None, copy=None):
    """What numpy.asarray makes of it."""
    array = _numpy(self)
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def _array_wrap(self, array, context=None, return_scalar=False):
    """What NumPy's own functions give for a tensor is a tensor."""
    return _C.from_numpy(array.copy() if not array.flags.writeable else array) if array.ndim or array.dtype != bool else _C.tensor(bool(array))


def _format(self, spec):
    """A tensor without dimensions takes the formats of numbers and prints as one: f"{loss}" is "2.5"."""
    if self.dim() == 0 and type(self) is Tensor:
        return format(self.item(), spec)
    return object.__format__(self, spec)


def _reversed(self):
    """The elements in the other order along the first dimension."""
    return self.flip(0) if self.dim() else self


def _conjugate_transpose(self):
    if self.dim() == 1:
        raise RuntimeError("tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return self.mT


def _matrix_transposed(self):
    if self.dim() not in (0, 2):
        more = "For batches of matrices, consider using tensor.mH" if self.dim() > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.dim()}-D tensor. {more}".rstrip())
    return self.mT if self.dim() else self


def _dim_order(self, *, ambiguity_check=False):
    """The dimensions from the one that lies furthest apart in memory to the closest."""
    return tuple(sorted(range(self.dim()), key=lambda d: -self.stride(d)))


def _imag(self):
    raise TypeError("imag is not implemented for tensors with non-complex dtypes.")


def _copy_in_storage(x, memo):
    """A copy of x in one copy of its memory for all tensors of a deepcopy that look at it."""
    if x.numel() == 0:
        return x.clone()
    address = ("memory", x._storage_address())
    if address not in memo:
        if x.is_contiguous() and x.nbytes == x._storage_bytes():  # nothing else of it can be seen
            memo[address] = x.clone()
            return memo[address].detach()
        memo[address] = x.untyped_storage()._whole(_C.uint8).clone()
    made = _C.empty(0, dtype=x.dtype, device=x.device)
    return made.set_(memo[address].untyped_storage(), x.storage_offset(), x.shape, x.stride())


def _deepcopy(self, memo):
    """A copy of its own memory; leaves only, as PyTorch has it."""
    if not self.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
                           "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage.")
    if id(self) in memo:
        return memo[id(self)]
    import copy
    with _C_no_grad():
        made = _copy_in_storage(self.detach(), memo)
        if type(self) is not Tensor:
            made = Tensor._make_subclass(type(self), made)
    made.requires_grad_(self.requires_grad) if self.is_floating_point() else None
    if self.grad is not None:
        made.grad = copy.deepcopy(self.grad, memo)
    if self.__dict__:
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    memo[id(self)] = made
    return made


def _copy(self):
    """Another tensor of the same memory, without the history."""
    if type(self).__reduce_ex__ is not Tensor.__reduce_ex__:  # the class says itself how it is made again
        make, arguments, *state = self.__reduce_ex__(4)
        made = make(*arguments)
        if state and state[0] is not None:
            made.__setstate__(state[0]) if hasattr(made, "__setstate__") else made.__dict__.update(state[0])
        return made
    made = self.detach()
    if type(self) is not Tensor:
        made = Tensor._make_subclass(type(self), made)
    made.__dict__.update(self.__dict__)
    return made.requires_grad_(self.requires_grad)


class _C_no_grad:
    """no_grad, before the package has one."""

    def __enter__(self):
        self.before = _C._set_grad_enabled(False)

    def __exit__(self, *error):
        _C._set_grad_enabled(self.before)


def _rebuild(cls, data, dtype, shape, requires_grad, state, device="cpu"):
    """What a pickled tensor is read by."""
    made = _C.frombuffer(bytearray(data), dtype=dtype).reshape(shape).detach() if data else _C.empty(shape, dtype=dtype)
    made = made.to(device)
    if cls is not None and cls is not Tensor:
        made = Tensor._make_subclass(cls, made)
    if requires_grad:
        made.requires_grad_()
    if state:
        made.__dict__.update(state)
    return made


def _rebuild_on(device, *args):
    return _rebuild(*args, device=device)


def _reduce(self, protocol):
    """Pickles the elements; a tensor of a GPU comes back on that GPU."""
    data = _bytes(self)
    args = (None if type(self) is Tensor else type(self), data, self.dtype, tuple(self.shape), self.requires_grad and self.is_leaf, dict(self.__dict__))
    if not self.is_leaf and self.requires_grad:
        warnings.warn("a result with a history was pickled without it")
    return (_rebuild, args) if self.is_cpu else (_rebuild_on, (str(self.device), *args))


def _bytes(self):
    """Its elements as bytes, in row-major order."""
    dense = self.detach().cpu().contiguous()
    if dense.numel() == 0:
        return b""
    if dense.dtype is _C.bfloat16:  # buffers have no format for it: two bytes of the float32 are its own
        whole = bytes(memoryview(dense.float().reshape(-1)))
        return b"".join(whole[i + 2:i + 4] for i in range(0, len(whole), 4)) if len(whole) < 4096 else _every_other_half(whole)
    return bytes(memoryview(dense.reshape(-1)).cast("B"))


def _every_other_half(whole):
    import array
    halves = array.array("H", whole)
    return halves[1::2].tobytes()


_TYPE_NAMES = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int", "int16": "Short",
               "int8": "Char", "uint8": "Byte", "bool": "Bool"}


def _type(self, dtype=None, non_blocking=False, **kwargs):
    """The name of the old tensor type, or the tensor as another dtype or old type."""
    if dtype is None:
        return f"torch.{'cuda.' if self.is_cuda else ''}{_TYPE_NAMES[_numpy_name(self.dtype)]}Tensor"
    if isinstance(dtype, str):
        last = dtype.rsplit(".", 1)[-1].removesuffix("Tensor")
        found = [name for name, old in _TYPE_NAMES.items() if old == last]
        if not found:
            raise ValueError(f"invalid type: '{dtype}'")
        return self.to("cuda" if ".cuda." in dtype else "cpu", getattr(_C, found[0]))
    if isinstance(dtype, _C.dtype):
        return self.to(dtype, non_blocking=non_blocking)
    if not hasattr(dtype, "dtype"):
        raise ValueError(f"invalid type: {dtype.__name__!r}")
    return self.to(dtype.device or "cpu", dtype.dtype)


def _new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A new tensor with a copy of the data, of this one's dtype and device."""
    return _C.tensor(data, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device, requires_grad=requires_grad)


def _new(self, *args, device=None):
    """The old form of new_empty and new_tensor."""
    return legacy_tensor(self.dtype, self.device if device is None else device, args)


def _apply_(self, function):
    """Replaces each element by function(element); on the CPU."""
    if self.is_cuda:
        raise TypeError("apply_ is only implemented on CPU tensors")
    flat = [function(value) for value in self.detach().reshape(-1).tolist()]
    self.copy_(_C.tensor(flat, dtype=self.dtype).reshape(self.shape))
    return self


def _map_(self, other, function):
    """Replaces each element by function(element, other's element); on the CPU."""
    flat = [function(a, b) for a, b in zip(self.detach().reshape(-1).tolist(), other.expand_as(self).reshape(-1).tolist())]
    self.copy_(_C.tensor(flat, dtype=self.dtype).reshape(self.shape))
    return self


def _norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    """The norm of vectors, of the whole tensor without `dim`."""
    return _functions.norm(self, p, dim, keepdim, dtype=dtype)


def _split(self, split_size, dim=0):
    """Parts along a dimension, of one size or of the sizes in a list."""
    return _C.split(self, split_size, dim) if isinstance(split_size, int) else _C.split(self, list(split_size), dim)


def _flat(name):
    """A method that is the function of its name."""
    function = getattr(_C, name, None) or _C._linalg[name]

    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)
    method.__name__ = name
    method.__doc__ = function.__doc__
    return method


def _prod(self, *args, **kwargs):
    """The product of all elements, or along `dim`; `dtype` is what it is computed in."""
    return _C.prod(self, *args, **kwargs)


def _nextafter_(self, other):
    """nextafter, into the tensor."""
    return self.copy_(nextafter(self, other))


def _array_namespace(self, /, *, api_version=None):
    """The module with the array API standard's functions for tensors."""
    from tandem import array_api
    if api_version is not None and api_version not in array_api.VERSIONS:
        raise ValueError(f"the array API standard's version {api_version} is not there; there are {', '.join(array_api.VERSIONS)}")
    return array_api


def _to_device(self, device, /, *, stream=None):
    """The array API standard's name for to(device)."""
    if stream is not None:
        raise ValueError("to_device: stream is not supported; use `with torch.cuda.stream(stream)`")
    return self.to(device)


def _as_strided_(self, size, stride, storage_offset=None):
    """Looks at its memory with other sizes and strides."""
    if self.requires_grad:
        raise NotImplementedError("as_strided_: tensors that require a gradient keep their strides; use as_strided")
    self.data = self.as_strided(size, stride, self.storage_offset() if storage_offset is None else storage_offset)
    return self


def _untyped_storage(self):
    """Its memory as bytes."""
    return UntypedStorage._of(self)


def _storage(self):
    """Its memory as elements of its dtype."""
    return TypedStorage(wrap_storage=UntypedStorage._of(self), dtype=self.dtype)


def _set(self, source=None, storage_offset=0, size=None, stride=None):
    """Looks at the memory of another tensor or of a storage, with its sizes and strides or those that are given; without one it is empty."""
    if isinstance(source, (UntypedStorage, TypedStorage)):
        source = source.untyped()._whole(self.dtype)
    if source is not None and size is not None:
        dense = [1] * len(size)
        for i in range(len(size) - 2, -1, -1):
            dense[i] = dense[i + 1] * max(size[i + 1], 1)
        source = source.as_strided(size, dense if stride is None else stride, storage_offset)
    self.data = _C.empty(0, dtype=self.dtype, device=self.device) if source is None else source.detach()
    return self


def _as_subclass(self, cls):
    """The same memory as an object of a class below Tensor."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError("Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class inherits from Tensor.")
    return self.view_as(self) if cls is Tensor else Tensor._make_subclass(cls, self)


def _setstate(self, state):
    self.__dict__.update(state)


def _from_functions(name):
    """The method that is a function of one of these modules, called with the tensor first."""
    function = next(getattr(module, name) for module in (_functions, _composed, _statistics) if hasattr(module, name))
    return getattr(function, "as_method", function)


METHODS = {
    "register_hook": _register_hook, "register_post_accumulate_grad_hook": _register_post_accumulate_grad_hook, "numpy": _numpy, "__array__": _array,
    "__array_wrap__": _array_wrap, "__array_priority__": 1000, "__format__": _format, "__copy__": _copy, "__deepcopy__": _deepcopy, "__reduce_ex__": _reduce, "type": _type,
    "new_tensor": _new_tensor, "new": _new, "apply_": _apply_, "map_": _map_, "untyped_storage": _untyped_storage, "storage": _storage,
    "norm": _norm, "split": _split, "split_with_sizes": _split, "__setstate__": _setstate,
    "is_coalesced": lambda self: False, "resolve_conj": lambda self: self, "resolve_neg": lambda self: self, "is_conj": lambda self: False,
    "is_neg": lambda self: False, "conj": lambda self: self, "conj_physical": lambda self: self, "conj_physical_": lambda self: self,
    "real": property(lambda self: self), "layout": property(lambda self: strided),
    "grad_dtype": property(lambda self: self.dtype), "is_nonzero": lambda self: bool(self), "to_dense": lambda self: self, 
    "H": property(_matrix_transposed), "mH": property(_conjugate_transpose), "prod": _prod, "dim_order": _dim_order, "has_names": lambda self: False,
    "_is_view": lambda self: self._base is not None, "index_put": _from_functions("index_put"), "nonzero": _from_functions("nonzero"),
    "__reversed__": _reversed, "as_strided_": _as_strided_, "set_": _set, "as_subclass": _as_subclass, "imag": property(_imag), "frexp": frexp.as_method, "nextafter": nextafter.as_method, "nextafter_": _nextafter_,
    "__array_namespace__": _array_namespace, "to_device": _to_device, "__complex__": lambda self: complex(self.item()),
    "is_xla": False, "is_xpu": False, "is_ipu": False, "is_hpu": False, "is_vulkan": False, "is_mkldnn": False, "is_sparse_csr": False,
}
for _name, _value in METHODS.items():
    _C._extend(_C.Tensor, _name, _value)

# Functions that are methods too, where C++ has no method of that name, and other names for methods.
for _name in ("addmv", "allclose", "equal", "chunk", "diag", "slogdet", "logit", "isin", "cholesky", "inverse", "hsplit", "vsplit", "dsplit",
              "fliplr", "flipud", "std", "var", "aminmax", "nanmean", "softplus", "gelu", "softmin", "bucketize", "hardtanh", "hardtanh_", "leaky_relu",
              "leaky_relu_", "elu", "elu_", "celu", "trapezoid", "cdist", "bernoulli", "multinomial", "flip", "isfinite", "dropout"):
    if not hasattr(Tensor, _name) and (hasattr(_C, _name) or _name in _C._linalg):
        _C._extend(_C.Tensor, _name, _flat(_name))
_ALIASES = {"true_divide": "div", "true_divide_": "div_"}
# Methods that are functions, called with the tensor first.
for _name in ("adjoint", "cov", "corrcoef", "logdet", "svd", "pinverse", "tensordot", "renorm", "matrix_exp", "mvlgamma", "gcd", "gcd_", "lcm",
              "lcm_", "histogram", "select_scatter", "slice_scatter", "diagonal_scatter", "as_strided_scatter", "cholesky_solve",
              "cholesky_inverse", "isreal", "nonzero_static", "resize_as_", "fill_diagonal_", "is_same_size", "sum_to_size", "new_empty_strided",
              "narrow_copy", "renorm_", "mvlgamma_", "unsafe_split"):
    _C._extend(_C.Tensor, _name, _from_functions(_name))
for _new_name, _name in _ALIASES.items():
    if hasattr(Tensor, _name):
        _C._extend(_C.Tensor, _new_name, getattr(Tensor, _name))

copyreg.pickle(_C.Size, lambda size: (_C.Size, (list(size),)))
_old_forms.use()
