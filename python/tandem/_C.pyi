# Written by python/generate/stubs.py.
# mypy: disable-error-code="overload-overlap, overload-cannot-match"
from builtins import bool as _bool, bytes as _bytes, float as _float, int as _int, str as _str
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, overload

_Number: TypeAlias = _int | _float
_Shape: TypeAlias = _int | Sequence[_int]

version: _str

class dtype:
    """The type of a tensor's elements."""
    @property
    def is_floating_point(self) -> _bool: ...
    @property
    def is_complex(self) -> _bool: ...
    @property
    def is_signed(self) -> _bool: ...
    @property
    def itemsize(self) -> _int: ...

_dtype: TypeAlias = dtype
_DType: TypeAlias = dtype | type[_bool] | type[_int] | type[_float]

bool: _dtype
uint8: _dtype
int8: _dtype
int16: _dtype
int32: _dtype
int64: _dtype
float16: _dtype
bfloat16: _dtype
float32: _dtype
float64: _dtype
# No tensor has these.
complex32: _dtype
complex64: _dtype
complex128: _dtype
uint16: _dtype
uint32: _dtype
uint64: _dtype
float8_e4m3fn: _dtype
float8_e4m3fnuz: _dtype
float8_e5m2: _dtype
float8_e5m2fnuz: _dtype
float8_e8m0fnu: _dtype

class device:
    """device(type, index=None): 'cpu', 'cuda' or 'cuda:1'. As a block it is where tensors are made that are given no device."""
    @overload
    def __init__(self, type: _str | _int | device) -> None: ...
    @overload
    def __init__(self, type: _str, index: _int | None = ...) -> None: ...
    @property
    def type(self) -> _str: ...
    @property
    def index(self) -> _int | None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]: ...

_device: TypeAlias = device
_Device: TypeAlias = device | _str | _int

class Size(tuple[_int, ...]):
    """The sizes of a tensor's dimensions: a tuple of ints."""
    def numel(self) -> _int: ...

class Generator:
    """Random numbers of its own."""
    def __init__(self, device: _Device = "cpu") -> None: ...
    @property
    def device(self) -> _device: ...
    def manual_seed(self, seed: _int) -> Self: ...
    def initial_seed(self) -> _int: ...
    def seed(self) -> _int: ...
    def get_state(self) -> Tensor: ...
    def set_state(self, new_state: Tensor) -> Self: ...

class Node:
    """A step of the graph of gradients."""
    def name(self) -> _str: ...
    @property
    def next_functions(self) -> tuple[tuple[Node | None, _int], ...]: ...
    @property
    def variable(self) -> Tensor: ...

class OutOfMemoryError(RuntimeError):
    """A device's memory is used up."""

class LinAlgError(RuntimeError):
    """A matrix that an algorithm cannot do, such as a singular one."""

class Compiled:
    """Compiled(module, function): a module of tensor to tensor, whose forward is learned once for each size."""
    def __new__(cls, module: Any, function: Callable[..., Any], /) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def why(self) -> _str: ...
    def steps(self) -> _str: ...
    def reset(self) -> None: ...

class SummaryWriter:
    """SummaryWriter(log_dir): writes an event file."""
    def __new__(cls, log_dir: _str, /) -> Self: ...
    @property
    def path(self) -> _str: ...
    def add_scalar(self, tag: _str, value: _float, step: _int, /) -> None: ...
    def add_scalars(self, tag: _str, values: dict[_str, _float], step: _int, /) -> None: ...
    def add_histogram(self, tag: _str, values: Tensor, step: _int, /) -> None: ...
    def add_image(self, tag: _str, image: Tensor, step: _int, /) -> None: ...
    def add_text(self, tag: _str, text: _str, step: _int, /) -> None: ...
    def add_hparams(self, parameters: dict[_str, Any], metrics: dict[_str, _float], /) -> None: ...
    def flush(self) -> None: ...

default_generator: Generator
def read_image(path: Any, mode: _str = ..., /) -> Tensor: ...
def decode_image(data: _bytes, mode: _str = ..., /) -> Tensor: ...
def encode_png(image: Tensor, /) -> _bytes: ...

class ForbiddenError(RuntimeError):
    """A wait that a ledger.Guard forbids."""

class Tensor:
    """An array of numbers of one dtype on a device, with its place in the graph of gradients."""
    __array_priority__: ClassVar[_int]
    def geqrf(self) -> Any: ...
    def i0(self) -> Tensor: ...
    def i0_(self) -> Self: ...
    def igamma(self, other: Tensor) -> Tensor: ...
    def igamma_(self, other: Tensor) -> Self: ...
    def igammac(self, other: Tensor) -> Tensor: ...
    def igammac_(self, other: Tensor) -> Self: ...
    def lu(self, pivot: _bool = ..., get_infos: _bool = ...) -> Any: ...
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor: ...
    def orgqr(self, input2: Tensor) -> Tensor: ...
    def ormqr(self, input2: Tensor, input3: Tensor, left: _bool = ..., transpose: _bool = ...) -> Tensor: ...
    def triangular_solve(self, A: Tensor, upper: _bool = ..., transpose: _bool = ..., unitriangular: _bool = ...) -> Any: ...
    __dict__: dict[_str, Any]
    data: Tensor
    grad: Tensor | None
    requires_grad: _bool
    def __new__(cls, *args: Any, device: _Device | None = None) -> Self: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def shape(self) -> Size: ...
    @property
    def dtype(self) -> _dtype: ...
    @property
    def device(self) -> _device: ...
    @property
    def layout(self) -> Any: ...
    @property
    def ndim(self) -> _int: ...
    @property
    def itemsize(self) -> _int: ...
    @property
    def nbytes(self) -> _int: ...
    @property
    def T(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    @property
    def H(self) -> Tensor: ...
    @property
    def mH(self) -> Tensor: ...
    @property
    def real(self) -> Tensor: ...
    @property
    def names(self) -> Any: ...
    @property
    def grad_dtype(self) -> _dtype | None: ...
    @property
    def grad_fn(self) -> Node | None: ...
    @property
    def output_nr(self) -> _int: ...
    @property
    def is_leaf(self) -> _bool: ...
    @property
    def retains_grad(self) -> _bool: ...
    @property
    def is_cuda(self) -> _bool: ...
    @property
    def is_cpu(self) -> _bool: ...
    @property
    def is_sparse(self) -> _bool: ...
    @property
    def is_quantized(self) -> _bool: ...
    @property
    def is_meta(self) -> _bool: ...
    @property
    def is_mps(self) -> _bool: ...
    @property
    def is_nested(self) -> _bool: ...
    is_xla: ClassVar[_bool]
    is_xpu: ClassVar[_bool]
    is_ipu: ClassVar[_bool]
    is_hpu: ClassVar[_bool]
    is_vulkan: ClassVar[_bool]
    is_mkldnn: ClassVar[_bool]
    is_sparse_csr: ClassVar[_bool]
    @property
    def _version(self) -> _int: ...
    @property
    def _base(self) -> Tensor | None: ...
    def _is_view(self) -> _bool: ...
    def _register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any: ...
    def _register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Any: ...
    def _remove_hook(self, number: Any) -> None: ...
    def _storage_address(self) -> _int: ...
    def _storage_bytes(self) -> _int: ...
    @staticmethod
    def _make_subclass(kind: Any, /, data: Tensor, requires_grad: _bool = False) -> Any: ...

    def __len__(self) -> _int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __contains__(self, element: Tensor | _Number, /) -> _bool: ...
    def __getitem__(self, index: Any, /) -> Tensor: ...
    def __setitem__(self, index: Any, value: Tensor | _Number, /) -> None: ...
    def __bool__(self) -> _bool: ...
    def __int__(self) -> _int: ...
    def __index__(self) -> _int: ...
    def __float__(self) -> _float: ...
    def __hash__(self) -> _int: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any: ...
    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: _bool = False) -> Tensor: ...
    def __deepcopy__(self, memo: dict[_int, Any]) -> Self: ...
    def __setstate__(self, state: dict[_str, Any]) -> None: ...
    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: _bool | None = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[_int, _int]: ...
    def __eq__(self, other: Tensor | _Number, /) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: Tensor | _Number, /) -> Tensor: ...  # type: ignore[override]
    def __add__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __radd__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __and__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rand__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __floordiv__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rfloordiv__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __lshift__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rlshift__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __mod__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rmod__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __mul__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rmul__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __or__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __ror__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __pow__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rpow__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rshift__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rrshift__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __sub__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rsub__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __truediv__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rtruediv__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __xor__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rxor__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __matmul__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __rmatmul__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __iadd__(self, other: Tensor | _Number, /) -> Self: ...
    def __iand__(self, other: Tensor | _Number, /) -> Self: ...
    def __ifloordiv__(self, other: Tensor | _Number, /) -> Self: ...
    def __ilshift__(self, other: Tensor | _Number, /) -> Self: ...
    def __imod__(self, other: Tensor | _Number, /) -> Self: ...
    def __imul__(self, other: Tensor | _Number, /) -> Self: ...
    def __ior__(self, other: Tensor | _Number, /) -> Self: ...
    def __ipow__(self, other: Tensor | _Number, /) -> Self: ...
    def __irshift__(self, other: Tensor | _Number, /) -> Self: ...
    def __isub__(self, other: Tensor | _Number, /) -> Self: ...
    def __itruediv__(self, other: Tensor | _Number, /) -> Self: ...
    def __ixor__(self, other: Tensor | _Number, /) -> Self: ...
    def __lt__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __le__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __gt__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __ge__(self, other: Tensor | _Number, /) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __divmod__(self, other: Tensor | _Number, /) -> tuple[Tensor, Tensor]: ...
    def __rdivmod__(self, other: Tensor | _Number, /) -> tuple[Tensor, Tensor]: ...

    def backward(self, gradient: Tensor | None = None, retain_graph: _bool | None = None, create_graph: _bool = False,
                 inputs: Sequence[Tensor] | Tensor | None = None) -> None:
        """Adds the gradients of this tensor to the .grad of all leaves, or of `inputs`."""
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Calls hook(grad) with the gradient of this tensor; what it returns takes its place. The result's remove() takes the hook away."""
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Any:
        """Calls hook(param) each time backward has added to this leaf's .grad."""
    def requires_grad_(self, requires_grad: _bool = True) -> Self:
        """Whether operations on it are recorded."""
    def retain_grad(self) -> None:
        """Keeps .grad of a result too."""
    def detach(self) -> Tensor:
        """The same values without history."""
    def detach_(self) -> Self:
        """Forgets its own history."""
    def clone(self, *, memory_format: Any = None) -> Tensor:
        """A copy, with its place in the graph."""
    def contiguous(self, memory_format: Any = None) -> Tensor:
        """Itself where it is dense, else a copy that is."""
    @overload
    def to(self, dtype: _DType, non_blocking: _bool = False, copy: _bool = False, *, memory_format: Any = None) -> Tensor:
        """On a device, of a dtype: itself where nothing changes."""
    @overload
    def to(self, device: _Device | None = None, dtype: _DType | None = None, non_blocking: _bool = False, copy: _bool = False, *,
           memory_format: Any = None) -> Tensor: ...
    @overload
    def to(self, other: Tensor, non_blocking: _bool = False, copy: _bool = False, *, memory_format: Any = None) -> Tensor: ...
    def cuda(self, device: _Device | None = None, non_blocking: _bool = False, memory_format: Any = None) -> Tensor:
        """On a GPU."""
    def cpu(self, memory_format: Any = None) -> Tensor:
        """On the CPU: itself where it is there."""
    def float(self, memory_format: Any = None) -> Tensor:
        """As float32."""
    def double(self, memory_format: Any = None) -> Tensor:
        """As float64."""
    def half(self, memory_format: Any = None) -> Tensor:
        """As float16."""
    def bfloat16(self, memory_format: Any = None) -> Tensor:
        """As bfloat16."""
    def long(self, memory_format: Any = None) -> Tensor:
        """As int64."""
    def int(self, memory_format: Any = None) -> Tensor:
        """As int32."""
    def short(self, memory_format: Any = None) -> Tensor:
        """As int16."""
    def char(self, memory_format: Any = None) -> Tensor:
        """As int8."""
    def byte(self, memory_format: Any = None) -> Tensor:
        """As uint8."""
    def bool(self, memory_format: Any = None) -> Tensor:
        """As bool."""
    @overload
    def type(self, dtype: None = None, non_blocking: _bool = False) -> _str:
        """The name of the old tensor type, or the tensor as another dtype or old type."""
    @overload
    def type(self, dtype: Any, non_blocking: _bool = False) -> Tensor: ...
    def pin_memory(self) -> Tensor:
        """A copy in page-locked memory; itself where it is there."""
    def share_memory_(self) -> Self:
        """Moves its values into memory that processes share."""
    def copy_(self, other: Tensor | _Number, non_blocking: _bool = False) -> Self:
        """Takes over the values of another tensor."""
    def record_stream(self, stream: Any) -> None:
        """Its memory is used on a stream too: it is not given out again before that stream has passed this point."""
    @overload
    def size(self, dim: None = None) -> Size:
        """The sizes, or that of one dimension."""
    @overload
    def size(self, dim: _int) -> _int: ...
    @overload
    def stride(self, dim: None = None) -> tuple[_int, ...]:
        """How many elements lie between neighbours of each dimension, or of one."""
    @overload
    def stride(self, dim: _int) -> _int: ...
    @overload
    def view(self, dtype: _dtype, /) -> Tensor:
        """The same elements with other sizes."""
    @overload
    def view(self, size: Sequence[_int], /) -> Tensor: ...
    @overload
    def view(self, *size: _int) -> Tensor: ...
    def dim(self) -> _int: ...
    def ndimension(self) -> _int: ...
    def dim_order(self) -> tuple[_int, ...]: ...
    def numel(self) -> _int: ...
    def nelement(self) -> _int: ...
    def element_size(self) -> _int: ...
    def storage_offset(self) -> _int: ...
    def get_device(self) -> _int: ...
    def data_ptr(self) -> _int: ...
    def is_floating_point(self) -> _bool: ...
    def is_complex(self) -> _bool: ...
    def is_signed(self) -> _bool: ...
    def is_contiguous(self, memory_format: Any = None) -> _bool: ...
    def is_pinned(self, device: Any = None) -> _bool: ...
    def is_shared(self) -> _bool: ...
    def is_set_to(self, tensor: Tensor) -> _bool: ...
    def is_inference(self) -> _bool: ...
    def is_coalesced(self) -> _bool: ...
    def is_conj(self) -> _bool: ...
    def is_neg(self) -> _bool: ...
    def is_nonzero(self) -> _bool: ...
    def has_names(self) -> _bool: ...
    def item(self) -> _Number:
        """The one element as a number."""
    def tolist(self) -> Any:
        """The elements as nested lists of numbers."""
    def numpy(self, *, force: _bool = False) -> Any:
        """The elements as an array over the same memory."""
    def storage(self) -> Any: ...
    def untyped_storage(self) -> Any: ...
    def to_dense(self) -> Tensor: ...
    def conj(self) -> Tensor: ...
    def resolve_conj(self) -> Tensor: ...
    def resolve_neg(self) -> Tensor: ...
    def new(self, *args: Any, device: _Device | None = None) -> Tensor:
        """The old form of new_empty and new_tensor."""
    def new_tensor(self, data: Any, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False,
                   layout: Any = None, pin_memory: _bool = False) -> Tensor:
        """A new tensor with a copy of the data, of this one's dtype and device."""
    def apply_(self, function: Callable[[Any], Any]) -> Self:
        """Replaces each element by function(element); on the CPU."""
    def map_(self, other: Tensor, function: Callable[[Any, Any], Any]) -> Self:
        """Replaces each element by function(element, other's element); on the CPU."""
    def index_put_(self, indices: Sequence[Tensor | None], values: Tensor | _Number, accumulate: _bool = False) -> Self:
        """Puts values at the indices."""
    def index_put(self, indices: Sequence[Tensor | None], values: Tensor | _Number, accumulate: _bool = False) -> Tensor:
        """A copy with values at the indices."""
    def norm(self, p: _Number | _str | None = "fro", dim: _Shape | None = None, keepdim: _bool = False,
             dtype: _DType | None = None) -> Tensor:
        """The norm of vectors, of the whole tensor without `dim`."""
    def split(self, split_size: _Shape, dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts along a dimension, of one size or of the sizes in a list."""
    def split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts along a dimension, of the sizes in a list."""
    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False) -> Tensor:
        """Where the elements are not zero: a row of indices for each, or with as_tuple one tensor of indices for each dimension."""
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
    @overload
    def max(self) -> Tensor:
        """The largest element; with `dim` that of each slice and where it is; with another tensor the larger of each pair."""
    @overload
    def max(self, dim: _int, keepdim: _bool = False) -> _max: ...
    @overload
    def max(self, other: Tensor) -> Tensor: ...
    @overload
    def min(self) -> Tensor:
        """The smallest element; with `dim` that of each slice and where it is; with another tensor the smaller of each pair."""
    @overload
    def min(self, dim: _int, keepdim: _bool = False) -> _min: ...
    @overload
    def min(self, other: Tensor) -> Tensor: ...
    @overload
    def var(self, dim: _Shape | None = None, *, correction: _Number = 1, keepdim: _bool = False) -> Tensor:
        """The variance: the squared distances from the mean, divided by their number less `correction`."""
    @overload
    def var(self, dim: _Shape | None, unbiased: _bool, keepdim: _bool = False) -> Tensor: ...
    @overload
    def var(self, unbiased: _bool) -> Tensor: ...
    @overload
    def std(self, dim: _Shape | None = None, *, correction: _Number = 1, keepdim: _bool = False) -> Tensor:
        """The standard deviation: the square root of var."""
    @overload
    def std(self, dim: _Shape | None, unbiased: _bool, keepdim: _bool = False) -> Tensor: ...
    @overload
    def std(self, unbiased: _bool) -> Tensor: ...
    def _nonzero(self) -> Tensor:
        """The positions of elements that are not zero, (count, dim). Waits for the device. As torch.nonzero, torch.argwhere."""
    def abs(self) -> Tensor:
        """The magnitude of each element. As torch.Tensor.abs."""
    def abs_(self) -> Self:
        """The magnitude of each element. As torch.Tensor.abs."""
    def absolute(self) -> Tensor:
        """The magnitude of each element. As torch.Tensor.abs."""
    def absolute_(self) -> Self:
        """The magnitude of each element. As torch.Tensor.abs."""
    def acos(self) -> Tensor:
        """The angle whose cosine is self. As torch.Tensor.acos."""
    def acos_(self) -> Self:
        """The angle whose cosine is self. As torch.Tensor.acos."""
    def acosh(self) -> Tensor:
        """The inverse of cosh. As torch.Tensor.acosh."""
    def acosh_(self) -> Self:
        """The inverse of cosh. As torch.Tensor.acosh."""
    @overload
    def add(self, other: Tensor | _Number, *, alpha: _Number) -> Tensor:
        """self + other. As torch.Tensor.add."""
    @overload
    def add(self, other: Tensor | _Number) -> Tensor: ...
    @overload
    def add_(self, other: Tensor | _Number, *, alpha: _Number) -> Self:
        """self + other. As torch.Tensor.add."""
    @overload
    def add_(self, other: Tensor | _Number) -> Self: ...
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * the sum of all products of a batch."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """beta * input + alpha * the sum of all products of a batch."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Tensor:
        """self + value * tensor1 / tensor2."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Self:
        """self + value * tensor1 / tensor2."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Tensor:
        """self + value * tensor1 * tensor2."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Self:
        """self + value * tensor1 * tensor2."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * this + alpha * (a product), as the functions of these names."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """beta * input + alpha * mat1 mat2; `input` broadcasts to (n, m), and is not read where beta is 0. For integer tensors beta and alpha must be
integers here; baddbmm, addbmm and addmv cut them off."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * mat vec for a matrix and a vector, and for two vectors as in outer. addr takes bool too."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """beta * input + alpha * mat vec for a matrix and a vector, and for two vectors as in outer. addr takes bool too."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * vec1 vec2 for a matrix and a vector, and for two vectors as in outer. addr takes bool too."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """beta * input + alpha * vec1 vec2 for a matrix and a vector, and for two vectors as in outer. addr takes bool too."""
    @overload
    def all(self) -> Tensor:
        """Whether all (any) of the elements are not zero: bool, or uint8 of uint8. As torch.all, torch.any."""
    @overload
    def all(self, dim: _Shape | None = None, keepdim: _bool = False) -> Tensor: ...
    @overload
    def all(self, dim: _int, keepdim: _bool = False) -> Tensor: ...
    def amax(self, dim: _Shape | None = None, keepdim: _bool = False) -> Tensor:
        """The largest element along dimensions; gradients go in equal parts to all that tie. As torch.amax."""
    def amin(self, dim: _Shape | None = None, keepdim: _bool = False) -> Tensor:
        """The smallest element along dimensions; gradients go in equal parts to all that tie. As torch.amin."""
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> _aminmax:
        """amin and amax, of all or along one dimension. As torch.aminmax."""
    def angle(self) -> Tensor:
        """pi for negative numbers, else 0. As torch.Tensor.angle."""
    def angle_(self) -> Self:
        """pi for negative numbers, else 0. As torch.Tensor.angle."""
    @overload
    def any(self) -> Tensor:
        """Whether all (any) of the elements are not zero: bool, or uint8 of uint8. As torch.all, torch.any."""
    @overload
    def any(self, dim: _Shape | None = None, keepdim: _bool = False) -> Tensor: ...
    @overload
    def any(self, dim: _int, keepdim: _bool = False) -> Tensor: ...
    def arccos(self) -> Tensor:
        """The angle whose cosine is self. As torch.Tensor.acos."""
    def arccos_(self) -> Self:
        """The angle whose cosine is self. As torch.Tensor.acos."""
    def arccosh(self) -> Tensor:
        """The inverse of cosh. As torch.Tensor.acosh."""
    def arccosh_(self) -> Self:
        """The inverse of cosh. As torch.Tensor.acosh."""
    def arcsin(self) -> Tensor:
        """The angle whose sine is self. As torch.Tensor.asin."""
    def arcsin_(self) -> Self:
        """The angle whose sine is self. As torch.Tensor.asin."""
    def arcsinh(self) -> Tensor:
        """The inverse of sinh. As torch.Tensor.asinh."""
    def arcsinh_(self) -> Self:
        """The inverse of sinh. As torch.Tensor.asinh."""
    def arctan(self) -> Tensor:
        """The angle whose tangent is self. As torch.Tensor.atan."""
    def arctan2(self, other: Tensor) -> Tensor:
        """The angle of the point (other, self). As torch.Tensor.atan2."""
    def arctan2_(self, other: Tensor) -> Self:
        """The angle of the point (other, self). As torch.Tensor.atan2."""
    def arctan_(self) -> Self:
        """The angle whose tangent is self. As torch.Tensor.atan."""
    def arctanh(self) -> Tensor:
        """The inverse of tanh. As torch.Tensor.atanh."""
    def arctanh_(self) -> Self:
        """The inverse of tanh. As torch.Tensor.atanh."""
    def argmax(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """The index of the first largest (smallest) element, in the flattened tensor or along a dimension; nan wins. As torch.argmax."""
    def argmin(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """The index of the first smallest element. As torch.argmin."""
    def argsort(self, dim: _int = -1, descending: _bool = False, *, stable: Any = None) -> Tensor:
        """The indices alone. As torch.argsort."""
    def argwhere(self) -> Tensor:
        """The positions of elements that are not zero, (count, dim). Waits for the device. As torch.nonzero, torch.argwhere."""
    def as_strided(self, size: _Shape, stride: _Shape, storage_offset: _int | None = None) -> Tensor:
        """Sizes and strides of your own over the same storage. Error where they reach outside. As torch.as_strided."""
    def asin(self) -> Tensor:
        """The angle whose sine is self. As torch.Tensor.asin."""
    def asin_(self) -> Self:
        """The angle whose sine is self. As torch.Tensor.asin."""
    def asinh(self) -> Tensor:
        """The inverse of sinh. As torch.Tensor.asinh."""
    def asinh_(self) -> Self:
        """The inverse of sinh. As torch.Tensor.asinh."""
    def atan(self) -> Tensor:
        """The angle whose tangent is self. As torch.Tensor.atan."""
    def atan2(self, other: Tensor) -> Tensor:
        """The angle of the point (other, self). As torch.Tensor.atan2."""
    def atan2_(self, other: Tensor) -> Self:
        """The angle of the point (other, self). As torch.Tensor.atan2."""
    def atan_(self) -> Self:
        """The angle whose tangent is self. As torch.Tensor.atan."""
    def atanh(self) -> Tensor:
        """The inverse of tanh. As torch.Tensor.atanh."""
    def atanh_(self) -> Self:
        """The inverse of tanh. As torch.Tensor.atanh."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
        """beta * input + alpha * batch1 batch2, a product of matrices for each batch: (b, n, k) by (b, k, m)."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """The same of batches: (b, n, k) by (b, k, m)."""
    @overload
    def bernoulli_(self, p: _float = 0.5, *, generator: Generator | None = None) -> Self:
        """1 with the probability that each element of `p` gives; p is floating and broadcasts."""
    @overload
    def bernoulli_(self, p: Tensor, *, generator: Generator | None = None) -> Self: ...
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each of 0, 1, … occurs in a vector of integers, or the sum of their weights; at least `minlength` entries. Waits for the
device. As torch.bincount."""
    def bitwise_and(self, other: Tensor | _Number) -> Tensor:
        """self & other. As torch.Tensor.bitwise_and."""
    def bitwise_and_(self, other: Tensor | _Number) -> Self:
        """self & other. As torch.Tensor.bitwise_and."""
    def bitwise_left_shift(self, other: Tensor | _Number) -> Tensor:
        """self << other. As torch.Tensor.bitwise_left_shift."""
    def bitwise_left_shift_(self, other: Tensor | _Number) -> Self:
        """self << other. As torch.Tensor.bitwise_left_shift."""
    def bitwise_not(self) -> Tensor:
        """All bits turned over, logical_not of bool. As torch.Tensor.bitwise_not."""
    def bitwise_not_(self) -> Self:
        """All bits turned over, logical_not of bool. As torch.Tensor.bitwise_not."""
    def bitwise_or(self, other: Tensor | _Number) -> Tensor:
        """self | other. As torch.Tensor.bitwise_or."""
    def bitwise_or_(self, other: Tensor | _Number) -> Self:
        """self | other. As torch.Tensor.bitwise_or."""
    def bitwise_right_shift(self, other: Tensor | _Number) -> Tensor:
        """self >> other. As torch.Tensor.bitwise_right_shift."""
    def bitwise_right_shift_(self, other: Tensor | _Number) -> Self:
        """self >> other. As torch.Tensor.bitwise_right_shift."""
    def bitwise_xor(self, other: Tensor | _Number) -> Tensor:
        """self ^ other. As torch.Tensor.bitwise_xor."""
    def bitwise_xor_(self, other: Tensor | _Number) -> Self:
        """self ^ other. As torch.Tensor.bitwise_xor."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """(b, n, k) by (b, k, m)."""
    def broadcast_to(self, size: _Shape) -> Tensor:
        """Dimensions of size 1 repeated to `size`, without a copy. As torch.broadcast_to."""
    def cauchy_(self, median: _float = 0, sigma: _float = 1, *, generator: Generator | None = None) -> Self:
        """Filled with numbers of the Cauchy distribution. As torch.Tensor.cauchy_."""
    def ceil(self) -> Tensor:
        """The nearest whole number above. As torch.Tensor.ceil."""
    def ceil_(self) -> Self:
        """The nearest whole number above. As torch.Tensor.ceil."""
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most `chunks` parts of the same size along a dimension, the last one smaller. As torch.chunk."""
    @overload
    def clamp(self, min: _Number | None = None, max: _Number | None = None) -> Tensor:
        """Within [min, max]; either may be left out, not both. nan stays."""
    @overload
    def clamp(self, min: Tensor | None = None, max: Tensor | None = None) -> Tensor: ...
    @overload
    def clamp_(self, min: _Number | None = None, max: _Number | None = None) -> Self:
        """Within [min, max]; either may be left out, not both. nan stays."""
    @overload
    def clamp_(self, min: Tensor | None = None, max: Tensor | None = None) -> Self: ...
    def clamp_max(self, max: Tensor | _Number) -> Tensor:
        """self, where it is above `max` that. As torch.clamp_max."""
    def clamp_max_(self, max: Tensor | _Number) -> Self:
        """self, where it is above `max` that. As torch.clamp_max."""
    def clamp_min(self, min: Tensor | _Number) -> Tensor:
        """self, where it is below `min` that. As torch.clamp_min."""
    def clamp_min_(self, min: Tensor | _Number) -> Self:
        """self, where it is below `min` that. As torch.clamp_min."""
    @overload
    def clip(self, min: _Number | None = None, max: _Number | None = None) -> Tensor:
        """Within [min, max]; either may be left out, not both. nan stays."""
    @overload
    def clip(self, min: Tensor | None = None, max: Tensor | None = None) -> Tensor: ...
    @overload
    def clip_(self, min: _Number | None = None, max: _Number | None = None) -> Self:
        """Within [min, max]; either may be left out, not both. nan stays."""
    @overload
    def clip_(self, min: Tensor | None = None, max: Tensor | None = None) -> Self: ...
    def copysign(self, other: Tensor | _Number) -> Tensor:
        """The magnitude of self with the sign of other. As torch.Tensor.copysign."""
    def copysign_(self, other: Tensor | _Number) -> Self:
        """The magnitude of self with the sign of other. As torch.Tensor.copysign."""
    def cos(self) -> Tensor:
        """The cosine of radians. As torch.Tensor.cos."""
    def cos_(self) -> Self:
        """The cosine of radians. As torch.Tensor.cos."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine. As torch.Tensor.cosh."""
    def cosh_(self) -> Self:
        """The hyperbolic cosine. As torch.Tensor.cosh."""
    def count_nonzero(self, dim: _Shape | None = None) -> Tensor:
        """How many elements are not zero, int64. As torch.count_nonzero."""
    def cross(self, other: Tensor, dim: _int | None = None) -> Tensor:
        """The vector product over a dimension of size 3, by default the first such. As torch.cross."""
    def cummax(self, dim: _int) -> _cummax:
        """The largest (smallest) element so far and the latest index at which it was; nan wins. As torch.cummax, torch.cummin."""
    def cummin(self, dim: _int) -> _cummin:
        """The largest (smallest) element so far and the latest index at which it was; nan wins. As torch.cummax, torch.cummin."""
    def cumprod(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """Running sums and products; integers and bools are int64 unless `dtype` says otherwise. As torch.cumsum, torch.cumprod."""
    def cumprod_(self, dim: _int, *, dtype: _DType | None = None) -> Self:
        """Running sums and products; integers and bools are int64 unless `dtype` says otherwise. As torch.cumsum, torch.cumprod."""
    def cumsum(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """Running sums and products; integers and bools are int64 unless `dtype` says otherwise. As torch.cumsum, torch.cumprod."""
    def cumsum_(self, dim: _int, *, dtype: _DType | None = None) -> Self:
        """Running sums and products; integers and bools are int64 unless `dtype` says otherwise. As torch.cumsum, torch.cumprod."""
    def deg2rad(self) -> Tensor:
        """Degrees in radians. As torch.Tensor.deg2rad."""
    def deg2rad_(self) -> Self:
        """Degrees in radians. As torch.Tensor.deg2rad."""
    def det(self) -> Tensor:
        """The determinant of a square matrix. As torch.det."""
    def diag(self, diagonal: _int = 0) -> Tensor:
        """A matrix with the vector self on a diagonal; of a matrix the diagonal, copied. As torch.diag."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """New tensors, zero but for self on diagonals: over two new dimensions; a vector's, or a copy of a matrix's diagonal; all of self's elements'."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """A matrix with all elements of self on a diagonal. As torch.diagflat."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """The diagonal of two dimensions, as the last one. As torch.diagonal."""
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """Each element minus the one before it, `n` times over; `prepend` and `append`, where defined, are joined to self first. Of bools: whether
they differ. As torch.diff."""
    def digamma(self) -> Tensor:
        """The slope of lgamma. As torch.Tensor.digamma."""
    def digamma_(self) -> Self:
        """The slope of lgamma. As torch.Tensor.digamma."""
    def dist(self, other: Tensor, p: _float = 2) -> Tensor:
        """The p-norm of self - other. As torch.dist."""
    @overload
    def div(self, other: Tensor | _Number, *, rounding_mode: _str) -> Tensor:
        """self / other, of integers too a floating number. As torch.Tensor.div."""
    @overload
    def div(self, other: Tensor | _Number, *, rounding_mode: None | None = None) -> Tensor: ...
    @overload
    def div_(self, other: Tensor | _Number, *, rounding_mode: _str) -> Self:
        """self / other, of integers too a floating number. As torch.Tensor.div."""
    @overload
    def div_(self, other: Tensor | _Number, *, rounding_mode: None | None = None) -> Self: ...
    @overload
    def divide(self, other: Tensor | _Number, *, rounding_mode: _str) -> Tensor:
        """self / other, of integers too a floating number. As torch.Tensor.div."""
    @overload
    def divide(self, other: Tensor | _Number, *, rounding_mode: None | None = None) -> Tensor: ...
    @overload
    def divide_(self, other: Tensor | _Number, *, rounding_mode: _str) -> Self:
        """self / other, of integers too a floating number. As torch.Tensor.div."""
    @overload
    def divide_(self, other: Tensor | _Number, *, rounding_mode: None | None = None) -> Self: ...
    def dot(self, tensor: Tensor) -> Tensor:
        """The sum of products of two vectors. As torch.dot."""
    def eq(self, other: Tensor | _Number) -> Tensor:
        """Whether self == other. As torch.Tensor.eq."""
    def eq_(self, other: Tensor | _Number) -> Self:
        """Whether self == other. As torch.Tensor.eq."""
    def erf(self) -> Tensor:
        """The error function. As torch.Tensor.erf."""
    def erf_(self) -> Self:
        """The error function. As torch.Tensor.erf."""
    def erfc(self) -> Tensor:
        """1 - erf(self), precise for large self. As torch.Tensor.erfc."""
    def erfc_(self) -> Self:
        """1 - erf(self), precise for large self. As torch.Tensor.erfc."""
    def erfinv(self) -> Tensor:
        """The number whose erf is self. As torch.Tensor.erfinv."""
    def erfinv_(self) -> Self:
        """The number whose erf is self. As torch.Tensor.erfinv."""
    def exp(self) -> Tensor:
        """e raised to each element. As torch.Tensor.exp."""
    def exp2(self) -> Tensor:
        """2 raised to each element. As torch.Tensor.exp2."""
    def exp2_(self) -> Self:
        """2 raised to each element. As torch.Tensor.exp2."""
    def exp_(self) -> Self:
        """e raised to each element. As torch.Tensor.exp."""
    @overload
    def expand(self, size: _Shape) -> Tensor:
        """Dimensions of size 1 repeated to `size`, without a copy; -1 keeps a size. As torch.Tensor.expand."""
    @overload
    def expand(self, *size: _int) -> Tensor: ...
    def expand_as(self, other: Tensor) -> Tensor:
        """expand to the sizes of `other`."""
    def expm1(self) -> Tensor:
        """exp(self) - 1, precise near zero. As torch.Tensor.expm1."""
    def expm1_(self) -> Self:
        """exp(self) - 1, precise near zero. As torch.Tensor.expm1."""
    def exponential_(self, lambd: _float = 1, *, generator: Generator | None = None) -> Self:
        """Filled with numbers of the exponential distribution. As torch.Tensor.exponential_."""
    def fill_(self, value: Tensor | _Number) -> Self:
        """A tensor like self, filled with a number or the value of a 0-dim tensor. As torch.fill."""
    def fix(self) -> Tensor:
        """The whole part. As torch.Tensor.trunc."""
    def fix_(self) -> Self:
        """The whole part. As torch.Tensor.trunc."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Dimensions start_dim to end_dim as one. As torch.flatten."""
    @overload
    def flip(self, dims: _Shape) -> Tensor:
        """The order along each of `dims` reversed: a copy."""
    @overload
    def flip(self, *dims: _int) -> Tensor: ...
    def float_power(self, exponent: Tensor | _Number) -> Tensor:
        """self raised to exponent, both in float64. As torch.float_power."""
    def float_power_(self, exponent: Tensor | _Number) -> Self:
        """self raised to exponent, both in float64. As torch.float_power."""
    def floor(self) -> Tensor:
        """The nearest whole number below. As torch.Tensor.floor."""
    def floor_(self) -> Self:
        """The nearest whole number below. As torch.Tensor.floor."""
    def floor_divide(self, other: Tensor | _Number) -> Tensor:
        """self / other rounded down. As torch.Tensor.floor_divide."""
    def floor_divide_(self, other: Tensor | _Number) -> Self:
        """self / other rounded down. As torch.Tensor.floor_divide."""
    def fmax(self, other: Tensor) -> Tensor:
        """The larger, nan loses. As torch.Tensor.fmax."""
    def fmax_(self, other: Tensor | _Number) -> Self:
        """The larger, nan loses. As torch.Tensor.fmax."""
    def fmin(self, other: Tensor) -> Tensor:
        """The smaller, nan loses. As torch.Tensor.fmin."""
    def fmin_(self, other: Tensor | _Number) -> Self:
        """The smaller, nan loses. As torch.Tensor.fmin."""
    def fmod(self, other: Tensor | _Number) -> Tensor:
        """What division rounded towards zero leaves, with the sign of self. As torch.Tensor.fmod."""
    def fmod_(self, other: Tensor | _Number) -> Self:
        """What division rounded towards zero leaves, with the sign of self. As torch.Tensor.fmod."""
    def frac(self) -> Tensor:
        """What trunc takes away. As torch.Tensor.frac."""
    def frac_(self) -> Self:
        """What trunc takes away. As torch.Tensor.frac."""
    def gather(self, dim: _int, index: Tensor) -> Tensor:
        """y[i][j] = self[index[i][j]][j] for dim 0, and so on. As torch.gather."""
    def ge(self, other: Tensor | _Number) -> Tensor:
        """Whether self >= other. As torch.Tensor.ge."""
    def ge_(self, other: Tensor | _Number) -> Self:
        """Whether self >= other. As torch.Tensor.ge."""
    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Self:
        """How many trials of probability p, in (0, 1), the first success takes."""
    def ger(self, vec2: Tensor) -> Tensor:
        """self[i] * vec2[j] of two vectors."""
    def greater(self, other: Tensor | _Number) -> Tensor:
        """Whether self > other. As torch.Tensor.gt."""
    def greater_(self, other: Tensor | _Number) -> Self:
        """Whether self > other. As torch.Tensor.gt."""
    def greater_equal(self, other: Tensor | _Number) -> Tensor:
        """Whether self >= other. As torch.Tensor.ge."""
    def greater_equal_(self, other: Tensor | _Number) -> Self:
        """Whether self >= other. As torch.Tensor.ge."""
    def gt(self, other: Tensor | _Number) -> Tensor:
        """Whether self > other. As torch.Tensor.gt."""
    def gt_(self, other: Tensor | _Number) -> Self:
        """Whether self > other. As torch.Tensor.gt."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """self where |self| > lambd, else 0."""
    def hardsigmoid(self) -> Tensor:
        """max(0, min(6, self + 3)) / 6. As torch.Tensor.hardsigmoid."""
    def hardsigmoid_(self) -> Self:
        """max(0, min(6, self + 3)) / 6. As torch.Tensor.hardsigmoid."""
    def hardswish(self) -> Tensor:
        """self * hardsigmoid(self). As torch.Tensor.hardswish."""
    def hardswish_(self) -> Self:
        """self * hardsigmoid(self). As torch.Tensor.hardswish."""
    def heaviside(self, values: Tensor) -> Tensor:
        """0 below zero, 1 above, values at zero. As torch.Tensor.heaviside."""
    def heaviside_(self, values: Tensor) -> Self:
        """0 below zero, 1 above, values at zero. As torch.Tensor.heaviside."""
    def histc(self, bins: _int = 100, min: _float = 0, max: _float = 0) -> Tensor:
        """How many elements lie in each of `bins` equal parts of [min, max], or of the range of self where both are equal. Others are left out.
Floating dtypes. As torch.histc."""
    def hypot(self, other: Tensor) -> Tensor:
        """sqrt(self * self + other * other). As torch.Tensor.hypot."""
    def hypot_(self, other: Tensor) -> Self:
        """sqrt(self * self + other * other). As torch.Tensor.hypot."""
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1) -> Tensor:
        """self with alpha times the slices of `source` added at `index`. As torch.index_add."""
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1) -> Self:
        """self with alpha times the slices of `source` added at `index`. As torch.index_add."""
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """self with the slices of `source` in place of those at `index`. As torch.index_copy."""
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Self:
        """self with the slices of `source` in place of those at `index`. As torch.index_copy."""
    def index_fill(self, dim: _int, index: Tensor, value: Tensor | _Number) -> Tensor:
        """self with `value` (a number or a 0-dim tensor) in the slices at `index`. As torch.index_fill."""
    def index_fill_(self, dim: _int, index: Tensor, value: Tensor | _Number) -> Self:
        """self with `value` (a number or a 0-dim tensor) in the slices at `index`. As torch.index_fill."""
    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: _str, *, include_self: _bool = True) -> Tensor:
        """self with the slices of `source` combined by "prod", "mean", "amax" or "amin" at `index`, with those of self where `include_self`. As
torch.index_reduce."""
    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: _str, *, include_self: _bool = True) -> Self:
        """self with the slices of `source` combined by "prod", "mean", "amax" or "amin" at `index`, with those of self where `include_self`. As
torch.index_reduce."""
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """Slices of self along a dimension, in the order of a vector `index`. As torch.index_select."""
    def inner(self, other: Tensor) -> Tensor:
        """Sums of products over the last dimensions; with a 0-dim tensor self * other. As torch.inner."""
    def inverse(self) -> Tensor:
        """The inverse of a square matrix. As torch.inverse."""
    def isclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Whether |self - other| <= atol + rtol * |other|, or both are the same. Error for different dtypes and negative tolerances."""
    def isfinite(self) -> Tensor:
        """Whether each element is neither nan nor infinite. As torch.Tensor.isfinite."""
    def isinf(self) -> Tensor:
        """Whether each element is infinite. As torch.Tensor.isinf."""
    def isnan(self) -> Tensor:
        """Whether each element is nan. As torch.Tensor.isnan."""
    def isneginf(self) -> Tensor:
        """Whether each element is minus infinity. As torch.Tensor.isneginf."""
    def isposinf(self) -> Tensor:
        """Whether each element is infinity. As torch.Tensor.isposinf."""
    def kron(self, other: Tensor) -> Tensor:
        """Kronecker's product."""
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> _kthvalue:
        """The k-th smallest element along a dimension, k counted from 1. As torch.kthvalue."""
    def ldexp(self, other: Tensor) -> Tensor:
        """self * 2^other. As torch.Tensor.ldexp."""
    def ldexp_(self, other: Tensor) -> Self:
        """self * 2^other. As torch.Tensor.ldexp."""
    def le(self, other: Tensor | _Number) -> Tensor:
        """Whether self <= other. As torch.Tensor.le."""
    def le_(self, other: Tensor | _Number) -> Self:
        """Whether self <= other. As torch.Tensor.le."""
    def lerp(self, end: Tensor | _Number, weight: Tensor | _Number) -> Tensor:
        """start + weight * (end - start)."""
    def lerp_(self, end: Tensor | _Number, weight: Tensor | _Number) -> Self:
        """start + weight * (end - start)."""
    def less(self, other: Tensor | _Number) -> Tensor:
        """Whether self < other. As torch.Tensor.lt."""
    def less_(self, other: Tensor | _Number) -> Self:
        """Whether self < other. As torch.Tensor.lt."""
    def less_equal(self, other: Tensor | _Number) -> Tensor:
        """Whether self <= other. As torch.Tensor.le."""
    def less_equal_(self, other: Tensor | _Number) -> Self:
        """Whether self <= other. As torch.Tensor.le."""
    def lgamma(self) -> Tensor:
        """The logarithm of |gamma(self)|. As torch.Tensor.lgamma."""
    def lgamma_(self) -> Self:
        """The logarithm of |gamma(self)|. As torch.Tensor.lgamma."""
    def log(self) -> Tensor:
        """The natural logarithm. As torch.Tensor.log."""
    def log10(self) -> Tensor:
        """The logarithm to base 10. As torch.Tensor.log10."""
    def log10_(self) -> Self:
        """The logarithm to base 10. As torch.Tensor.log10."""
    def log1p(self) -> Tensor:
        """log(1 + self), precise near zero. As torch.Tensor.log1p."""
    def log1p_(self) -> Self:
        """log(1 + self), precise near zero. As torch.Tensor.log1p."""
    def log2(self) -> Tensor:
        """The logarithm to base 2. As torch.Tensor.log2."""
    def log2_(self) -> Self:
        """The logarithm to base 2. As torch.Tensor.log2."""
    def log_(self) -> Self:
        """The natural logarithm. As torch.Tensor.log."""
    def log_normal_(self, mean: _float = 1, std: _float = 2, *, generator: Generator | None = None) -> Self:
        """Numbers whose logarithm is normal with this mean and deviation."""
    @overload
    def log_softmax(self, dim: _int, dtype: None | None = None) -> Tensor:
        """The logarithm of softmax, computed without it."""
    @overload
    def log_softmax(self, dim: _int, dtype: _DType) -> Tensor: ...
    def logaddexp(self, other: Tensor) -> Tensor:
        """log(exp(self) + exp(other)). As torch.Tensor.logaddexp."""
    def logaddexp2(self, other: Tensor) -> Tensor:
        """log2(2^self + 2^other). As torch.Tensor.logaddexp2."""
    def logaddexp2_(self, other: Tensor | _Number) -> Self:
        """log2(2^self + 2^other). As torch.Tensor.logaddexp2."""
    def logaddexp_(self, other: Tensor | _Number) -> Self:
        """log(exp(self) + exp(other)). As torch.Tensor.logaddexp."""
    def logcumsumexp(self, dim: _int) -> Tensor:
        """log(cumsum(exp(self))) that does not overflow. Floating dtypes. As torch.logcumsumexp."""
    def logical_and(self, other: Tensor) -> Tensor:
        """Whether both are not zero. As torch.Tensor.logical_and."""
    def logical_and_(self, other: Tensor) -> Self:
        """Whether both are not zero. As torch.Tensor.logical_and."""
    def logical_not(self) -> Tensor:
        """Whether each element is zero. As torch.Tensor.logical_not."""
    def logical_not_(self) -> Self:
        """Whether each element is zero. As torch.Tensor.logical_not."""
    def logical_or(self, other: Tensor) -> Tensor:
        """Whether one is not zero. As torch.Tensor.logical_or."""
    def logical_or_(self, other: Tensor) -> Self:
        """Whether one is not zero. As torch.Tensor.logical_or."""
    def logical_xor(self, other: Tensor) -> Tensor:
        """Whether exactly one is not zero. As torch.Tensor.logical_xor."""
    def logical_xor_(self, other: Tensor) -> Self:
        """Whether exactly one is not zero. As torch.Tensor.logical_xor."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """log(self / (1 - self)), self first brought within [eps, 1 - eps] where an eps is given."""
    def logit_(self, eps: _float | None = None) -> Self:
        """log(self / (1 - self)), self first brought within [eps, 1 - eps] where an eps is given."""
    def logsigmoid(self) -> Tensor:
        """log(sigmoid(self)). As torch.Tensor.logsigmoid."""
    def logsigmoid_(self) -> Self:
        """log(sigmoid(self)). As torch.Tensor.logsigmoid."""
    def logsumexp(self, dim: _Shape, keepdim: _bool = False) -> Tensor:
        """log(sum(exp(self))), taken from the maximum so that it cannot overflow. As torch.logsumexp."""
    def lt(self, other: Tensor | _Number) -> Tensor:
        """Whether self < other. As torch.Tensor.lt."""
    def lt_(self, other: Tensor | _Number) -> Self:
        """Whether self < other. As torch.Tensor.lt."""
    def masked_fill(self, mask: Tensor, value: Tensor | _Number) -> Tensor:
        """self with `value` where `mask` is true. As torch.Tensor.masked_fill."""
    def masked_fill_(self, mask: Tensor, value: Tensor | _Number) -> Self:
        """self with `value` where `mask` is true. As torch.Tensor.masked_fill."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """self with the elements of `source`, one after another, where `mask` is true. Waits for the device: source must have enough of them. As
torch.Tensor.masked_scatter."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """self with the elements of `source`, one after another, where `mask` is true. Waits for the device: source must have enough of them. As
torch.Tensor.masked_scatter."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where `mask` is true, as a vector. Waits for the device: the size depends on the data."""
    def matmul(self, other: Tensor) -> Tensor:
        """By PyTorch's rules: vectors, matrices, and batches that broadcast. As torch.matmul."""
    def matrix_power(self, n: _int) -> Tensor:
        """Multiplied with itself n times. As torch.matrix_power."""
    def maximum(self, other: Tensor) -> Tensor:
        """The larger, nan wins. As torch.Tensor.maximum."""
    def maximum_(self, other: Tensor | _Number) -> Self:
        """The larger, nan wins. As torch.Tensor.maximum."""
    @overload
    def mean(self) -> Tensor:
        """Error for integers, unless a floating `dtype` is given. As torch.mean."""
    @overload
    def mean(self, dim: _Shape | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor: ...
    @overload
    def mean(self, dim: _int, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor: ...
    @overload
    def mean(self, *, dtype: _DType) -> Tensor: ...
    @overload
    def median(self) -> Tensor:
        """The middle element, of two the lower; nan where there is one. nanmedian: of those that are not nan. As torch.median, torch.nanmedian."""
    @overload
    def median(self, dim: _int, keepdim: _bool = False) -> _median: ...
    def minimum(self, other: Tensor) -> Tensor:
        """The smaller, nan wins. As torch.Tensor.minimum."""
    def minimum_(self, other: Tensor | _Number) -> Self:
        """The smaller, nan wins. As torch.Tensor.minimum."""
    def mish(self) -> Tensor:
        """self * tanh(log(1 + exp(self))). As torch.Tensor.mish."""
    def mish_(self) -> Self:
        """self * tanh(log(1 + exp(self))). As torch.Tensor.mish."""
    def mm(self, mat2: Tensor) -> Tensor:
        """(n, k) by (k, m)."""
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> _mode:
        """The most frequent element along a dimension, of several the smallest, and the last index at which it is. As torch.mode."""
    @overload
    def moveaxis(self, source: _int, destination: _int) -> Tensor:
        """Dimensions to other places; the others keep their order. As torch.movedim."""
    @overload
    def moveaxis(self, source: _Shape, destination: _Shape) -> Tensor: ...
    @overload
    def movedim(self, source: _int, destination: _int) -> Tensor:
        """Dimensions to other places; the others keep their order. As torch.movedim."""
    @overload
    def movedim(self, source: _Shape, destination: _Shape) -> Tensor: ...
    def msort(self) -> Tensor:
        """Sorted along dimension 0. As torch.msort."""
    def mul(self, other: Tensor | _Number) -> Tensor:
        """self * other. As torch.Tensor.mul."""
    def mul_(self, other: Tensor | _Number) -> Self:
        """self * other. As torch.Tensor.mul."""
    def multinomial(self, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None) -> Tensor:
        """Categories (int64) drawn for each row of weights (n) or (m, n), which need not sum to 1. Error for negative, infinite or all-zero
weights, and without replacement for more draws than weights above 0. As torch.multinomial."""
    def multiply(self, other: Tensor | _Number) -> Tensor:
        """self * other. As torch.Tensor.mul."""
    def multiply_(self, other: Tensor | _Number) -> Self:
        """self * other. As torch.Tensor.mul."""
    def mv(self, vec: Tensor) -> Tensor:
        """A matrix times a vector. As torch.mv."""
    def nan_to_num(self, nan: _float = 0, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """nan and the infinities replaced: by default 0 and the dtype's largest and lowest numbers. Integers as they are."""
    def nan_to_num_(self, nan: _float = 0, posinf: _float | None = None, neginf: _float | None = None) -> Self:
        """nan and the infinities replaced: by default 0 and the dtype's largest and lowest numbers. Integers as they are."""
    def nanmean(self, dim: _Shape | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The mean of the elements that are not nan. As torch.nanmean."""
    @overload
    def nanmedian(self) -> Tensor:
        """The middle element, of two the lower; nan where there is one. nanmedian: of those that are not nan. As torch.median, torch.nanmedian."""
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool = False) -> _nanmedian: ...
    def nanquantile(self, q: Tensor | _Number, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear') -> Tensor:
        """The q-quantiles, of all elements or along a dimension; a vector of q gives a first dimension. Between two elements `interpolation`
decides: linear, lower, higher, midpoint or nearest. float32 and float64. As torch.quantile, torch.nanquantile."""
    def nansum(self, dim: _Shape | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """The sum of the elements that are not nan. As torch.nansum."""
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor:
        """`length` elements of a dimension, from `start`. As torch.narrow."""
    def ne(self, other: Tensor | _Number) -> Tensor:
        """Whether self != other. As torch.Tensor.ne."""
    def ne_(self, other: Tensor | _Number) -> Self:
        """Whether self != other. As torch.Tensor.ne."""
    def neg(self) -> Tensor:
        """The negative of each element. As torch.Tensor.neg."""
    def neg_(self) -> Self:
        """The negative of each element. As torch.Tensor.neg."""
    def negative(self) -> Tensor:
        """The negative of each element. As torch.Tensor.neg."""
    def negative_(self) -> Self:
        """The negative of each element. As torch.Tensor.neg."""
    @overload
    def new_empty(self, size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor:
        """New tensors of this one's dtype and device, unless the options say otherwise."""
    @overload
    def new_empty(self, *size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor: ...
    def new_full(self, size: _Shape, fill_value: _Number, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor:
        """All `fill_value`, of its dtype and device."""
    @overload
    def new_ones(self, size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor:
        """Ones of its dtype and device."""
    @overload
    def new_ones(self, *size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor: ...
    @overload
    def new_zeros(self, size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor:
        """Zeros of its dtype and device. As torch.Tensor.new_zeros."""
    @overload
    def new_zeros(self, *size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor: ...
    def normal_(self, mean: _float = 0, std: _float = 1, *, generator: Generator | None = None) -> Self:
        """Normal with a mean and a deviation for each element, one of them a tensor; or of given sizes. Error for a negative deviation."""
    def not_equal(self, other: Tensor | _Number) -> Tensor:
        """Whether self != other. As torch.Tensor.ne."""
    def not_equal_(self, other: Tensor | _Number) -> Self:
        """Whether self != other. As torch.Tensor.ne."""
    def outer(self, vec2: Tensor) -> Tensor:
        """self[i] * vec2[j] of two vectors."""
    @overload
    def permute(self, dims: _Shape) -> Tensor:
        """The dimensions in another order. As torch.permute."""
    @overload
    def permute(self, *dims: _int) -> Tensor: ...
    def polygamma(self, n: _int) -> Tensor:
        """The n-th slope of digamma. Error for a negative n."""
    def polygamma_(self, n: _int) -> Self:
        """The n-th slope of digamma. Error for a negative n."""
    def positive(self) -> Tensor:
        """self itself. Error for bool."""
    def pow(self, exponent: Tensor | _Number) -> Tensor:
        """self raised to exponent. As torch.Tensor.pow."""
    def pow_(self, exponent: Tensor | _Number) -> Self:
        """self raised to exponent. As torch.Tensor.pow."""
    def prelu(self, weight: Tensor) -> Tensor:
        """leaky_relu with a slope of its own for each channel (dimension 1), or one for all."""
    @overload
    def prod(self, *, dtype: None | None = None) -> Tensor:
        """The product of all elements, or along a dimension. As torch.prod."""
    @overload
    def prod(self, dim: _int, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor: ...
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """self with the elements of `source` at these places, added where `accumulate`. As torch.put."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Self:
        """self with the elements of `source` at these places, added where `accumulate`. As torch.put."""
    def quantile(self, q: Tensor | _Number, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear') -> Tensor:
        """The q-quantiles, of all elements or along a dimension; a vector of q gives a first dimension. Between two elements `interpolation`
decides: linear, lower, higher, midpoint or nearest. float32 and float64. As torch.quantile, torch.nanquantile."""
    def rad2deg(self) -> Tensor:
        """Radians in degrees. As torch.Tensor.rad2deg."""
    def rad2deg_(self) -> Self:
        """Radians in degrees. As torch.Tensor.rad2deg."""
    @overload
    def random_(self, from_: _int, to: _int, *, generator: Generator | None = None) -> Self:
        """Integers in [from, to); without bounds, all that the dtype holds exactly."""
    @overload
    def random_(self, to: _int, *, generator: Generator | None = None) -> Self: ...
    @overload
    def random_(self, *, generator: Generator | None = None) -> Self: ...
    def ravel(self) -> Tensor:
        """As one dimension."""
    def reciprocal(self) -> Tensor:
        """1 / self. As torch.Tensor.reciprocal."""
    def reciprocal_(self) -> Self:
        """1 / self. As torch.Tensor.reciprocal."""
    def relu(self) -> Tensor:
        """max(0, self). As torch.Tensor.relu."""
    def relu6(self) -> Tensor:
        """min(6, max(0, self)). As torch.Tensor.relu6."""
    def relu6_(self) -> Self:
        """min(6, max(0, self)). As torch.Tensor.relu6."""
    def relu_(self) -> Self:
        """max(0, self). As torch.Tensor.relu."""
    def remainder(self, other: Tensor | _Number) -> Tensor:
        """What floor_divide leaves, with the sign of other. As torch.Tensor.remainder."""
    def remainder_(self, other: Tensor | _Number) -> Self:
        """What floor_divide leaves, with the sign of other. As torch.Tensor.remainder."""
    @overload
    def repeat(self, repeats: _Shape) -> Tensor:
        """Copies laid behind each other, `repeats[i]` times along dimension i; more repeats than dimensions add leading ones."""
    @overload
    def repeat(self, *repeats: _int) -> Tensor: ...
    @overload
    def repeat_interleave(self, repeats: _int, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
        """Each element `repeats` times, of the flattened tensor without `dim`. As torch.repeat_interleave."""
    @overload
    def repeat_interleave(self, repeats: Tensor, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor: ...
    @overload
    def reshape(self, shape: _Shape) -> Tensor:
        """Other sizes, of as many elements; one may be -1. A view where the strides allow it, else a copy. As torch.reshape."""
    @overload
    def reshape(self, *shape: _int) -> Tensor: ...
    def reshape_as(self, other: Tensor) -> Tensor:
        """reshape to the sizes of `other`."""
    @overload
    def resize_(self, size: _Shape, *, memory_format: Any = None) -> Self:
        """Takes other sizes, dense: the elements stay in their order as far as there are as many, further ones are uninitialised. In place where
the memory is large enough. Error where it requires gradients. As torch.Tensor.resize_."""
    @overload
    def resize_(self, *size: _int, memory_format: Any = None) -> Self: ...
    def roll(self, shifts: _Shape, dims: _Shape | None = None) -> Tensor:
        """Elements moved on by `shifts` along `dims`, those past the end coming in at the start; without `dims` along all elements as a vector."""
    def rot90(self, k: _int = 1, dims: _Shape = (0, 1)) -> Tensor:
        """Turned `k` times by a quarter, from the first of `dims` towards the second."""
    @overload
    def round(self, *, decimals: _int) -> Tensor:
        """The nearest whole number, the even one of two. As torch.Tensor.round."""
    @overload
    def round(self) -> Tensor: ...
    @overload
    def round_(self, *, decimals: _int) -> Self:
        """The nearest whole number, the even one of two. As torch.Tensor.round."""
    @overload
    def round_(self) -> Self: ...
    def rsqrt(self) -> Tensor:
        """1 / sqrt(self). As torch.Tensor.rsqrt."""
    def rsqrt_(self) -> Self:
        """1 / sqrt(self). As torch.Tensor.rsqrt."""
    def rsub(self, other: Tensor | _Number) -> Tensor:
        """other - self. As torch.Tensor.rsub."""
    def rsub_(self, other: Tensor | _Number) -> Self:
        """other - self. As torch.Tensor.rsub."""
    @overload
    def scatter(self, dim: _int, index: Tensor, src: Tensor | _Number) -> Tensor:
        """self with y[index[i][j]][j] = source[i][j] for dim 0, and so on; `reduce` "add" or "multiply" combines it with what is there. As
torch.scatter."""
    @overload
    def scatter(self, dim: _int, index: Tensor, src: Tensor | _Number, *, reduce: _str) -> Tensor: ...
    @overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor | _Number) -> Self:
        """self with y[index[i][j]][j] = source[i][j] for dim 0, and so on; `reduce` "add" or "multiply" combines it with what is there. As
torch.scatter."""
    @overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor | _Number, *, reduce: _str) -> Self: ...
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """self with source added at these places. As torch.scatter_add."""
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Self:
        """self with source added at these places. As torch.scatter_add."""
    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: _str, *, include_self: _bool = True) -> Tensor:
        """scatter that combines all that comes to a place by "sum", "prod", "mean", "amax" or "amin", with what was there where `include_self`. As
torch.scatter_reduce."""
    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: _str, *, include_self: _bool = True) -> Self:
        """scatter that combines all that comes to a place by "sum", "prod", "mean", "amax" or "amin", with what was there where `include_self`. As
torch.scatter_reduce."""
    def select(self, dim: _int, index: _int) -> Tensor:
        """One element of a dimension, which falls away. As torch.select."""
    def selu(self) -> Tensor:
        """1.0507 * elu(self, 1.6733). As torch.Tensor.selu."""
    def selu_(self) -> Self:
        """1.0507 * elu(self, 1.6733). As torch.Tensor.selu."""
    def sgn(self) -> Tensor:
        """-1, 0 or 1. As torch.Tensor.sgn."""
    def sgn_(self) -> Self:
        """-1, 0 or 1. As torch.Tensor.sgn."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-self)). As torch.Tensor.sigmoid."""
    def sigmoid_(self) -> Self:
        """1 / (1 + exp(-self)). As torch.Tensor.sigmoid."""
    def sign(self) -> Tensor:
        """-1, 0 or 1. As torch.Tensor.sign."""
    def sign_(self) -> Self:
        """-1, 0 or 1. As torch.Tensor.sign."""
    def signbit(self) -> Tensor:
        """Whether each element has its sign bit set, -0 and -nan too. As torch.Tensor.signbit."""
    def silu(self) -> Tensor:
        """self * sigmoid(self). As torch.Tensor.silu."""
    def silu_(self) -> Self:
        """self * sigmoid(self). As torch.Tensor.silu."""
    def sin(self) -> Tensor:
        """The sine of radians. As torch.Tensor.sin."""
    def sin_(self) -> Self:
        """The sine of radians. As torch.Tensor.sin."""
    def sinc(self) -> Tensor:
        """sin(pi self) / (pi self), 1 at 0. As torch.Tensor.sinc."""
    def sinc_(self) -> Self:
        """sin(pi self) / (pi self), 1 at 0. As torch.Tensor.sinc."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine. As torch.Tensor.sinh."""
    def sinh_(self) -> Self:
        """The hyperbolic sine. As torch.Tensor.sinh."""
    @overload
    def softmax(self, dim: _int, dtype: None | None = None) -> Tensor:
        """exp(self) divided by its sum along `dim`, taken from the maximum so that it cannot overflow.
Shape, dtype and device are self's. Error where `dim` is outside [-self.dim(), self.dim()) or self is not floating. As torch.softmax."""
    @overload
    def softmax(self, dim: _int, dtype: _DType) -> Tensor: ...
    def softsign(self) -> Tensor:
        """self / (1 + |self|). As torch.Tensor.softsign."""
    def softsign_(self) -> Self:
        """self / (1 + |self|). As torch.Tensor.softsign."""
    def sort(self, dim: _int = -1, descending: _bool = False, *, stable: Any = None) -> _sort:
        """The elements along a dimension in order and where each was. Always stable. As torch.sort."""
    def sqrt(self) -> Tensor:
        """The square root. As torch.Tensor.sqrt."""
    def sqrt_(self) -> Self:
        """The square root. As torch.Tensor.sqrt."""
    def square(self) -> Tensor:
        """self * self. As torch.Tensor.square."""
    def square_(self) -> Self:
        """self * self. As torch.Tensor.square."""
    @overload
    def squeeze(self) -> Tensor:
        """Without the dimensions of size 1. As torch.squeeze."""
    @overload
    def squeeze(self, dim: _int) -> Tensor: ...
    @overload
    def squeeze(self, dim: _Shape) -> Tensor: ...
    @overload
    def squeeze_(self) -> Self:
        """In place: the tensor itself is seen so from now on, over the same storage. Errors as those of every change in place."""
    @overload
    def squeeze_(self, dim: _int) -> Self: ...
    @overload
    def squeeze_(self, dim: _Shape) -> Self: ...
    @overload
    def sub(self, other: Tensor | _Number, *, alpha: _Number) -> Tensor:
        """self - other. As torch.Tensor.sub."""
    @overload
    def sub(self, other: Tensor | _Number) -> Tensor: ...
    @overload
    def sub_(self, other: Tensor | _Number, *, alpha: _Number) -> Self:
        """self - other. As torch.Tensor.sub."""
    @overload
    def sub_(self, other: Tensor | _Number) -> Self: ...
    @overload
    def subtract(self, other: Tensor | _Number, *, alpha: _Number) -> Tensor:
        """self - other. As torch.Tensor.sub."""
    @overload
    def subtract(self, other: Tensor | _Number) -> Tensor: ...
    @overload
    def subtract_(self, other: Tensor | _Number, *, alpha: _Number) -> Self:
        """self - other. As torch.Tensor.sub."""
    @overload
    def subtract_(self, other: Tensor | _Number) -> Self: ...
    @overload
    def sum(self) -> Tensor:
        """Integers and bools are added up as int64, unless `dtype` says otherwise. As torch.sum."""
    @overload
    def sum(self, dim: _Shape | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor: ...
    @overload
    def sum(self, dim: _int, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor: ...
    @overload
    def sum(self, *, dtype: _DType) -> Tensor: ...
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """As transpose."""
    def swapaxes_(self, axis0: _int, axis1: _int) -> Self:
        """As transpose."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """As transpose."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Self:
        """As transpose."""
    def t(self) -> Tensor:
        """A matrix transposed; a vector as it is. As torch.t."""
    def t_(self) -> Self:
        """A matrix transposed; a vector as it is. As torch.t."""
    def take(self, index: Tensor) -> Tensor:
        """Elements of the flattened self, with index's sizes; negative ones count from the end. As torch.take."""
    def take_along_dim(self, indices: Tensor, dim: _int | None = None) -> Tensor:
        """gather, where self and indices broadcast in the other dimensions and indices may be negative; of the flattened tensors without `dim`. As
torch.take_along_dim."""
    def tan(self) -> Tensor:
        """The tangent of radians. As torch.Tensor.tan."""
    def tan_(self) -> Self:
        """The tangent of radians. As torch.Tensor.tan."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent. As torch.Tensor.tanh."""
    def tanh_(self) -> Self:
        """The hyperbolic tangent. As torch.Tensor.tanh."""
    def tanhshrink(self) -> Tensor:
        """self - tanh(self). As torch.Tensor.tanhshrink."""
    def tanhshrink_(self) -> Self:
        """self - tanh(self). As torch.Tensor.tanhshrink."""
    @overload
    def tensor_split(self, sections: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
    @overload
    def tensor_split(self, indices: _Shape, dim: _int = 0) -> tuple[Tensor, ...]: ...
    @overload
    def tensor_split(self, indices_or_sections: Tensor, dim: _int = 0) -> tuple[Tensor, ...]: ...
    @overload
    def tile(self, dims: _Shape) -> Tensor:
        """Copies side by side, so many along each dimension; fewer numbers than dimensions stand for the last ones. As torch.tile."""
    @overload
    def tile(self, *dims: _int) -> Tensor: ...
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> _topk:
        """The k largest (smallest) elements along a dimension, in order whether `sorted` or not. As torch.topk."""
    def trace(self) -> Tensor:
        """The sum of the diagonal of a matrix. As torch.trace."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dimensions change places. As torch.transpose."""
    def transpose_(self, dim0: _int, dim1: _int) -> Self:
        """Two dimensions change places. As torch.transpose."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """The lower (upper) triangle, the rest zero."""
    def tril_(self, diagonal: _int = 0) -> Self:
        """The lower (upper) triangle, the rest zero."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The upper triangle, the rest zero."""
    def triu_(self, diagonal: _int = 0) -> Self:
        """The upper triangle, the rest zero."""
    def trunc(self) -> Tensor:
        """The whole part. As torch.Tensor.trunc."""
    def trunc_(self) -> Self:
        """The whole part. As torch.Tensor.trunc."""
    def type_as(self, other: Tensor) -> Tensor:
        """With the dtype and on the device of `other`."""
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """The elements of a dimension, one by one. As torch.unbind."""
    def unflatten(self, dim: _int, sizes: _Shape) -> Tensor:
        """Dimension `dim` as several, of `sizes`; one of them may be -1."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """Windows of `size` elements every `step` along `dimension`, as a last dimension: a view. As torch.Tensor.unfold."""
    def uniform_(self, from_: _float = 0, to: _float = 1, *, generator: Generator | None = None) -> Self: ...
    @overload
    def unique(self) -> Any:
        """Waits for the device: the size depends on the data. As torch.unique."""
    @overload
    def unique(self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any: ...
    @overload
    def unique_consecutive(self) -> Any:
        """One of each run of equal neighbours. Waits for the device. As torch.unique_consecutive."""
    @overload
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any: ...
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most `chunks` parts of the same size along a dimension, the last one smaller. As torch.chunk."""
    def unsqueeze(self, dim: _int) -> Tensor:
        """With a new dimension of size 1 at `dim`. As torch.unsqueeze."""
    def unsqueeze_(self, dim: _int) -> Self:
        """With a new dimension of size 1 at `dim`. As torch.unsqueeze."""
    def vdot(self, other: Tensor) -> Tensor:
        """The sum of products of two vectors; dot of real numbers."""
    def view_as(self, other: Tensor) -> Tensor:
        """view of the sizes of `other`."""
    def where(self, condition: Tensor, other: Tensor | _Number) -> Tensor:
        """The first where condition is true, else the second; of a condition alone its places, a vector a dimension. As torch.where."""
    def xlogy(self, other: Tensor | _Number) -> Tensor:
        """self * log(other), 0 where self is 0. As torch.Tensor.xlogy."""
    def xlogy_(self, other: Tensor | _Number) -> Self:
        """self * log(other), 0 where self is 0. As torch.Tensor.xlogy."""
    def zero_(self) -> Self:
        """All elements 0."""
    def __copy__(self) -> Tensor:
        """Another tensor of the same memory, without the history."""
    def conj_physical(self, *args: Any, **kwargs: Any) -> Any: ...
    def conj_physical_(self, *args: Any, **kwargs: Any) -> Any: ...
    def __reversed__(self) -> Tensor:
        """The elements in the other order along the first dimension."""
    def as_strided_(self, size: Any, stride: Any, storage_offset: Any = None) -> Self:
        """Looks at its memory with other sizes and strides."""
    def set_(self, source: Any = None, storage_offset: Any = 0, size: Any = None, stride: Any = None) -> Self:
        """Looks at the memory of another tensor or of a storage, with its sizes and strides or those that are given; without one it is empty."""
    def as_subclass(self, cls: Any) -> Tensor:
        """The same memory as an object of a class below Tensor."""
    @property
    def imag(self) -> Any: ...
    def frexp(self, *args: Any, **kwargs: Any) -> Any: ...
    def nextafter(self, *args: Any, **kwargs: Any) -> Any: ...
    def nextafter_(self, other: Tensor | _Number) -> Self:
        """nextafter, into the tensor."""
    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        """The module with the array API standard's functions for tensors."""
    def to_device(self, device: _Device | None, *, stream: Any = None) -> Tensor:
        """The array API standard's name for to(device)."""
    def __complex__(self, *args: Any, **kwargs: Any) -> Any: ...
    def allclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
        """Whether |input - other| <= atol + rtol * |other| everywhere. Waits for the devices. As torch.allclose."""
    def equal(self, other: Tensor) -> _bool:
        """Whether both have the same sizes and the same values. Waits for the devices. As torch.equal."""
    def slogdet(self, *, out: Sequence[Tensor] | None = None) -> _linalg_slogdet:
        """The sign of the determinant and the logarithm of its magnitude."""
    def isin(self, test_elements: Tensor | _Number, *, assume_unique: _bool = False, invert: _bool = False, out: Tensor | None = None) -> Tensor:
        """Whether each element is one of `test_elements`; the other way round with `invert`. As torch.isin."""
    def cholesky(self, *, upper: _bool = False, out: Tensor | None = None) -> Tensor:
        """L of L Lᵀ = A, or Lᵀ with `upper`; only that triangle of A is read. Error where A is not positive-definite."""
    @overload
    def hsplit(self, sections: _int) -> tuple[Tensor, ...]: ...
    @overload
    def hsplit(self, indices: _Shape) -> tuple[Tensor, ...]: ...
    @overload
    def vsplit(self, sections: _int) -> tuple[Tensor, ...]: ...
    @overload
    def vsplit(self, indices: _Shape) -> tuple[Tensor, ...]: ...
    @overload
    def dsplit(self, sections: _int) -> tuple[Tensor, ...]: ...
    @overload
    def dsplit(self, indices: _Shape) -> tuple[Tensor, ...]: ...
    def fliplr(self) -> Tensor:
        """Columns (the second dimension) and rows (the first) reversed."""
    def flipud(self) -> Tensor:
        """flip of the first dimension. As torch.flipud."""
    def softplus(self, beta: _float = 1, threshold: _float = 20, *, out: Tensor | None = None) -> Tensor:
        """log(1 + exp(beta * input)) / beta; input itself where beta * input > threshold."""
    def gelu(self, *, approximate: _str = 'none', out: Tensor | None = None) -> Tensor:
        """The Gaussian error linear unit: exact ("none"), or by "tanh"."""
    @overload
    def softmin(self, dim: _int, *, out: Tensor | None = None) -> Tensor:
        """softmax(-input)."""
    @overload
    def softmin(self, dim: _int, *, dtype: _DType, out: Tensor | None = None) -> Tensor: ...
    def bucketize(self, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False, out: Tensor | None = None) -> Tensor:
        """Between which two of the ascending `boundaries` each value lies, as an index. As torch.bucketize."""
    def hardtanh(self, min_val: _float = -1, max_val: _float = 1, *, out: Tensor | None = None) -> Tensor:
        """Within [min_val, max_val]. Integers too."""
    def hardtanh_(self, min_val: _float = -1, max_val: _float = 1) -> Tensor:
        """Within [min_val, max_val]. Integers too."""
    def leaky_relu(self, negative_slope: _float = 0.01, *, out: Tensor | None = None) -> Tensor:
        """max(0, input) + negative_slope * min(0, input)."""
    def leaky_relu_(self, negative_slope: _float = 0.01) -> Tensor:
        """max(0, input) + negative_slope * min(0, input)."""
    def elu(self, alpha: _float = 1, *, out: Tensor | None = None) -> Tensor:
        """input where input > 0, else alpha * (exp(input) - 1)."""
    def elu_(self, alpha: _float = 1) -> Tensor:
        """input where input > 0, else alpha * (exp(input) - 1)."""
    def celu(self, alpha: _float = 1) -> Tensor:
        """input where input > 0, else alpha * (exp(input / alpha) - 1). Error for an alpha of 0."""
    @overload
    def trapezoid(self, dx: _float = 1, dim: _int = -1) -> Tensor:
        """The integral of y by the trapezoidal rule, with points `dx` apart, or at `x` (of y's sizes, or a vector along `dim`). As
torch.trapezoid, which is torch.trapz too."""
    @overload
    def trapezoid(self, x: Tensor, dim: _int = -1) -> Tensor: ...
    def cdist(self, x2: Tensor, p: _float = 2, compute_mode: _str = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
        """Distances by the p-norm between all rows of x1 (…, n, k) and x2 (…, m, k): (…, n, m). `compute_mode` says when Euclid's may come from a
matrix product, which is faster and less precise. As torch.cdist."""
    @overload
    def bernoulli(self, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
        """1 with probability p, in the sizes and type of `input`."""
    @overload
    def bernoulli(self, p: _float, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor: ...
    def dropout(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """Zeroes elements with probability p and scales the others by 1 / (1 - p); the tensor itself unless training. As
torch.nn.functional.dropout."""
    def adjoint(self) -> Tensor:
        """The last two dimensions exchanged: the elements are real."""
    def cov(self, *args: Any, **kwargs: Any) -> Tensor: ...
    def corrcoef(self, *args: Any, **kwargs: Any) -> Tensor: ...
    def logdet(self) -> Tensor:
        """The logarithm of the determinant; nan where that is negative."""
    def svd(self, some: Any = True, compute_uv: Any = True, *, out: Tensor | None = None) -> Any:
        """U, S and V of U diag(S) Vᵀ = input. some: not more columns than S has. The old form of linalg.svd, which gives Vᵀ."""
    def pinverse(self, rcond: Any = 1e-15) -> Tensor:
        """Moore and Penrose's inverse."""
    def tensordot(self, b: Any, dims: Any = 2, out: Tensor | None = None) -> Tensor:
        """Sums of products over several dimensions: the last `dims` of a with the first of b, or two lists of dimensions."""
    def renorm(self, p: Any, dim: Any, maxnorm: Any, *, out: Tensor | None = None) -> Tensor:
        """The slices along a dimension whose p-norm is above maxnorm, scaled down to it."""
    def matrix_exp(self) -> Tensor:
        """The exponential of square matrices: a Taylor polynomial of the matrix scaled down by a power of two, squared as often."""
    def mvlgamma(self, p: Any, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of the multivariate gamma function of p dimensions."""
    def gcd(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """The largest number that divides both; Euclid's algorithm, which waits for the device at each of its steps."""
    def gcd_(self, other: Tensor | _Number) -> Self:
        """gcd, into input."""
    def lcm(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """The smallest positive number that both divide; 0 where one is 0."""
    def lcm_(self, other: Tensor | _Number) -> Self:
        """lcm, into input."""
    def histogram(self, bins: Any = 100, *, range: Any = None, weight: Tensor | None = None, density: Any = False, out: Tensor | None = None) -> Any:
        """How many elements, or how much weight, lie in each bin, and where the bins end. bins: how many, or their ends in ascending order."""
    def select_scatter(self, src: Any, dim: Any, index: Any) -> Tensor:
        """A copy of input with src at one index of a dimension."""
    def slice_scatter(self, src: Any, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1) -> Tensor:
        """A copy of input with src in a slice of a dimension."""
    def diagonal_scatter(self, src: Any, offset: Any = 0, dim1: Any = 0, dim2: Any = 1) -> Tensor:
        """A copy of input with src on a diagonal."""
    def as_strided_scatter(self, src: Any, size: Any, stride: Any, storage_offset: Any = None) -> Tensor:
        """A copy of input with src where as_strided would look."""
    def cholesky_solve(self, input2: Any, upper: Any = False, *, out: Tensor | None = None) -> Tensor:
        """X of A X = input, from input2, the Cholesky factor of A."""
    def cholesky_inverse(self, upper: Any = False, *, out: Tensor | None = None) -> Tensor:
        """The inverse of A, from its Cholesky factor."""
    def isreal(self) -> Tensor:
        """True everywhere: there are no complex dtypes."""
    def nonzero_static(self, *, size: Any, fill_value: Any = ...) -> Tensor:
        """The first `size` rows of nonzero, filled up where there are fewer."""
    def resize_as_(self, the_template: Any, *, memory_format: Any = None) -> Self:
        """Takes the sizes of another tensor."""
    def fill_diagonal_(self, fill_value: Any, wrap: Any = False) -> Self:
        """Sets the main diagonal. wrap: a tall matrix gets it again below a row in between."""
    def is_same_size(self, other: Tensor | _Number) -> _bool:
        """Whether both have the same sizes."""
    def sum_to_size(self, *size: Any) -> Tensor:
        """Sums of the dimensions that broadcasting made, so that it has this size."""
    def new_empty_strided(self, size: Any, stride: Any, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, layout: Any = None, pin_memory: _bool = False) -> Tensor:
        """A tensor with these strides, of this one's dtype and device, whose elements are not set."""
    def narrow_copy(self, dim: Any, start: Any, length: Any, *, out: Tensor | None = None) -> Tensor:
        """A part of a dimension, in memory of its own."""
    def renorm_(self, p: Any, dim: Any, maxnorm: Any) -> Self:
        """renorm, into input."""
    def mvlgamma_(self, p: Any) -> Self:
        """mvlgamma, into input."""
    def unsafe_split(self, split_size: Any, dim: Any = 0) -> tuple[Tensor, ...]:
        """split."""
    true_divide = div
    true_divide_ = div_

def tensor(data: Any, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False,
           pin_memory: _bool = False) -> Tensor:
    """A new tensor with a copy of the data."""
def as_tensor(data: Any, dtype: _DType | None = None, device: _Device | None = None) -> Tensor:
    """A tensor of the data, over the same memory where that can be."""
def from_numpy(ndarray: Any, /) -> Tensor:
    """A tensor over the array's memory."""
def frombuffer(buffer: Any, *, dtype: _DType, count: _int = -1, offset: _int = 0, requires_grad: _bool = False) -> Tensor:
    """A tensor of one dimension over the buffer's memory."""
@overload
def var(input: Tensor, dim: _Shape | None = None, *, correction: _Number = 1, keepdim: _bool = False, out: Tensor | None = None) -> Tensor:
    """The variance: the squared distances from the mean, divided by their number less `correction`."""
@overload
def var(input: Tensor, dim: _Shape | None, unbiased: _bool, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def var(input: Tensor, unbiased: _bool) -> Tensor: ...
@overload
def std(input: Tensor, dim: _Shape | None = None, *, correction: _Number = 1, keepdim: _bool = False, out: Tensor | None = None) -> Tensor:
    """The standard deviation: the square root of var."""
@overload
def std(input: Tensor, dim: _Shape | None, unbiased: _bool, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def std(input: Tensor, unbiased: _bool) -> Tensor: ...
@overload
def var_mean(input: Tensor, dim: _Shape | None = None, *, correction: _Number = 1, keepdim: _bool = False) -> tuple[Tensor, Tensor]:
    """var and mean."""
@overload
def var_mean(input: Tensor, dim: _Shape | None, unbiased: _bool, keepdim: _bool = False) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(input: Tensor, unbiased: _bool) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(input: Tensor, dim: _Shape | None = None, *, correction: _Number = 1, keepdim: _bool = False) -> tuple[Tensor, Tensor]:
    """std and mean."""
@overload
def std_mean(input: Tensor, dim: _Shape | None, unbiased: _bool, keepdim: _bool = False) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(input: Tensor, unbiased: _bool) -> tuple[Tensor, Tensor]: ...

def get_default_dtype() -> _dtype:
    """The dtype of floating numbers without one of their own."""
def set_default_dtype(d: _dtype, /) -> None:
    """Sets it."""
def get_default_device() -> _device:
    """Where tensors are made that are given no device."""
def set_default_device(device: _Device | None, /) -> None:
    """Sets it for the calling thread; None for the CPU."""
def promote_types(type1: _dtype, type2: _dtype, /) -> _dtype:
    """The dtype that holds the numbers of both."""
def can_cast(from_: _dtype, to: _dtype, /) -> _bool:
    """Whether a result of the one dtype may be written to a tensor of the other."""
def get_num_threads() -> _int:
    """How many threads compute."""
def set_num_threads(count: _int, /) -> None:
    """Sets how many threads compute."""
def are_deterministic_algorithms_enabled() -> _bool: ...
def is_grad_enabled() -> _bool:
    """Whether operations are recorded."""
def is_inference_mode_enabled() -> _bool:
    """Whether this thread is in a block of inference_mode."""
def manual_seed(seed: _int, /) -> Generator:
    """Seeds the random numbers of all devices."""
def initial_seed() -> _int:
    """The seed of manual_seed."""
def set_cpu_random(kind: _str, /) -> None:
    """Whose random numbers the CPU draws: 'tandem', the same as on GPUs, or 'torch', PyTorch's to the bit."""
def get_cpu_random() -> _str:
    """Whose random numbers the CPU draws: 'tandem' or 'torch'."""
def sync_batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None, bias: Tensor | None,
                    training: _bool, momentum: _float, eps: _float, group: Any = None) -> Tensor:
    """Batch normalization in training by the statistics of all ranks' batches."""
def optim_create(name: _str, params: Sequence[Tensor], options: dict[_str, Any], /) -> Any:
    """An optimizer with one group."""

# For the package itself.
cuda: Any
seeing: Any
_distributed: Any
_parallel: Any
_linalg: dict[_str, Callable[..., Any]]
def _autocast_dtype(device: Any, /) -> _dtype: ...
def _autocast_enabled(device: Any, /) -> _bool: ...
def _autocast_enter(device: Any, dtype: Any, enabled: _bool, cache_enabled: Any, /) -> Any: ...
def _autocast_exit(before: Any, /) -> None: ...
def _backward(*args: Any) -> None: ...
def _backend(name: _str, value: _bool = ..., /) -> _bool: ...
def _cell_namer(namer: Any, /) -> None: ...
def _extend(type: type, name: _str, value: Any, /) -> None: ...
def _from_dlpack_capsule(capsule: Any, /) -> Tensor: ...
def _get_printing() -> Any: ...
def _get_rng_state(device: Any, /) -> Tensor: ...
def _grad(*args: Any) -> Any: ...
def _module_prefix(prefix: _str, /) -> None: ...
def _pack_tensor(tensor: Tensor, /) -> Any: ...
def _package_folder(folder: _str, /) -> None: ...
def _queue_callback(function: Callable[[], None], /) -> None: ...
def _record_function(*args: Any) -> Any: ...
def _set_grad_enabled(mode: _bool, /) -> _bool: ...
def _set_recording(enabled: _bool, inference: _bool, /) -> tuple[_bool, _bool]: ...
def _set_old_forms(function: Any, /) -> None: ...
def _set_printing(precision: _int, threshold: _int, edgeitems: _int, linewidth: _int, sci_mode: _bool | None, /) -> None: ...
def _set_rng_state(state: Tensor, device: Any, /) -> None: ...
def _set_warnings(function: Any, /) -> None: ...
def _unpack_tensor(data: _bytes, descriptors: Any, /) -> Tensor: ...
def _use_deterministic(mode: _bool, /) -> None: ...
def _where() -> Any: ...

class _adaptive_max_pool1d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor
class _adaptive_max_pool2d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor
class _adaptive_max_pool3d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor
class _aminmax(NamedTuple):
    min: Tensor
    max: Tensor
class _cummax(NamedTuple):
    values: Tensor
    indices: Tensor
class _cummin(NamedTuple):
    values: Tensor
    indices: Tensor
class _fractional_max_pool2d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor
class _fractional_max_pool3d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor
class _kthvalue(NamedTuple):
    values: Tensor
    indices: Tensor
class _linalg_eigh(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor
class _linalg_lstsq(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor
class _linalg_qr(NamedTuple):
    Q: Tensor
    R: Tensor
class _linalg_slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor
class _linalg_svd(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor
class _max(NamedTuple):
    values: Tensor
    indices: Tensor
class _max_pool1d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor
class _max_pool2d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor
class _max_pool3d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor
class _median(NamedTuple):
    values: Tensor
    indices: Tensor
class _min(NamedTuple):
    values: Tensor
    indices: Tensor
class _mode(NamedTuple):
    values: Tensor
    indices: Tensor
class _nanmedian(NamedTuple):
    values: Tensor
    indices: Tensor
class _sort(NamedTuple):
    values: Tensor
    indices: Tensor
class _topk(NamedTuple):
    values: Tensor
    indices: Tensor

def _einsum(equation: _str, operands: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Einstein's sum. As torch.einsum.
Letters, upper and lower case, name dimensions; those of one letter must agree or be 1; "..." stands for any further ones, which
broadcast."""
def _meshgrid(tensors: Sequence[Tensor], indexing: _str = 'ij') -> tuple[Tensor, ...]:
    """Each vector spread over a grid of all of them: views. `indexing` "xy" swaps the first two dimensions. As torch.meshgrid."""
def _nonzero(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The positions of elements that are not zero, (count, dim). Waits for the device. As torch.nonzero, torch.argwhere."""
@overload
def _tensordot(input: Tensor, other: Tensor, dims: _int = 2, *, out: Tensor | None = None) -> Tensor:
    """Sums over the last `dims` dimensions of input and the first of other; or over those named for each. As torch.tensordot."""
@overload
def _tensordot(input: Tensor, other: Tensor, dims_self: _Shape, dims_other: _Shape, *, out: Tensor | None = None) -> Tensor: ...
def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The magnitude of each element. As torch.abs."""
def abs_(input: Tensor) -> Tensor:
    """The magnitude of each element. As torch.abs."""
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The magnitude of each element. As torch.abs."""
def absolute_(input: Tensor) -> Tensor:
    """The magnitude of each element. As torch.abs."""
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose cosine is input. As torch.acos."""
def acos_(input: Tensor) -> Tensor:
    """The angle whose cosine is input. As torch.acos."""
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of cosh. As torch.acosh."""
def acosh_(input: Tensor) -> Tensor:
    """The inverse of cosh. As torch.acosh."""
def adaptive_avg_pool1d(input: Tensor, output_size: _int | None | Sequence[_int | None], *, out: Tensor | None = None) -> Tensor:
    """Windows that divide the input into output_size parts, which may overlap. Floating types. As torch.nn.functional.adaptive_avg_pool2d."""
def adaptive_avg_pool2d(input: Tensor, output_size: _int | None | Sequence[_int | None], *, out: Tensor | None = None) -> Tensor:
    """Windows that divide the input into output_size parts, which may overlap. Floating types. As torch.nn.functional.adaptive_avg_pool2d."""
def adaptive_avg_pool3d(input: Tensor, output_size: _int | None | Sequence[_int | None], *, out: Tensor | None = None) -> Tensor:
    """Windows that divide the input into output_size parts, which may overlap. Floating types. As torch.nn.functional.adaptive_avg_pool2d."""
def adaptive_max_pool1d(input: Tensor, output_size: _int | None | Sequence[_int | None], *, out: Tensor | None = None) -> Tensor:
    """The largest elements of such windows. As torch.nn.functional.adaptive_max_pool2d."""
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: _int | None | Sequence[_int | None], *, out: Sequence[Tensor] | None = None) -> _adaptive_max_pool1d_with_indices:
    """The largest elements of such windows. As torch.nn.functional.adaptive_max_pool2d."""
def adaptive_max_pool2d(input: Tensor, output_size: _int | None | Sequence[_int | None], *, out: Tensor | None = None) -> Tensor:
    """The largest elements of such windows. As torch.nn.functional.adaptive_max_pool2d."""
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: _int | None | Sequence[_int | None], *, out: Sequence[Tensor] | None = None) -> _adaptive_max_pool2d_with_indices:
    """The largest elements of such windows. As torch.nn.functional.adaptive_max_pool2d."""
def adaptive_max_pool3d(input: Tensor, output_size: _int | None | Sequence[_int | None], *, out: Tensor | None = None) -> Tensor:
    """The largest elements of such windows. As torch.nn.functional.adaptive_max_pool2d."""
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: _int | None | Sequence[_int | None], *, out: Sequence[Tensor] | None = None) -> _adaptive_max_pool3d_with_indices:
    """The largest elements of such windows. As torch.nn.functional.adaptive_max_pool2d."""
@overload
def add(input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number, out: Tensor | None = None) -> Tensor:
    """input + other. As torch.add."""
@overload
def add(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor: ...
def add_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input + other. As torch.add."""
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * the sum of all products of a batch."""
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1, out: Tensor | None = None) -> Tensor:
    """input + value * tensor1 / tensor2."""
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1, out: Tensor | None = None) -> Tensor:
    """input + value * tensor1 * tensor2."""
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * mat1 mat2; `input` broadcasts to (n, m), and is not read where beta is 0. For integer tensors beta and alpha must be
integers here; baddbmm, addbmm and addmv cut them off."""
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * mat vec for a matrix and a vector, and for two vectors as in outer. addr takes bool too."""
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * vec1 vec2 for a matrix and a vector, and for two vectors as in outer. addr takes bool too."""
def affine_grid(theta: Tensor, size: _Shape, align_corners: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The grid that moves an image of sizes (N, C, H, W) by theta (N, 2, 3), or a volume by (N, 3, 4). As
torch.nn.functional.affine_grid."""
@overload
def all(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether all (any) of the elements are not zero: bool, or uint8 of uint8. As torch.all, torch.any."""
@overload
def all(input: Tensor, dim: _Shape | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def allclose(input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
    """Whether |input - other| <= atol + rtol * |other| everywhere. Waits for the devices. As torch.allclose."""
def alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """Zeroes elements of input and moves the others so that mean and variance stay, for networks with selu. As torch.nn.functional.alpha_dropout."""
def amax(input: Tensor, dim: _Shape | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The largest element along dimensions; gradients go in equal parts to all that tie. As torch.amax."""
def amin(input: Tensor, dim: _Shape | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The smallest element along dimensions; gradients go in equal parts to all that tie. As torch.amin."""
def aminmax(input: Tensor, *, dim: _int | None = None, keepdim: _bool = False, out: Sequence[Tensor] | None = None) -> _aminmax:
    """amin and amax, of all or along one dimension. As torch.aminmax."""
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """pi for negative numbers, else 0. As torch.angle."""
def angle_(input: Tensor) -> Tensor:
    """pi for negative numbers, else 0. As torch.angle."""
@overload
def any(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether all (any) of the elements are not zero: bool, or uint8 of uint8. As torch.all, torch.any."""
@overload
def any(input: Tensor, dim: _Shape | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def arange(end: _Number, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor:
    """start, start + step, … below end. int64 where all three are integers."""
@overload
def arange(start: _Number, end: _Number, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor: ...
@overload
def arange(start: _Number, end: _Number, step: _Number, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor: ...
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose cosine is input. As torch.acos."""
def arccos_(input: Tensor) -> Tensor:
    """The angle whose cosine is input. As torch.acos."""
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of cosh. As torch.acosh."""
def arccosh_(input: Tensor) -> Tensor:
    """The inverse of cosh. As torch.acosh."""
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose sine is input. As torch.asin."""
def arcsin_(input: Tensor) -> Tensor:
    """The angle whose sine is input. As torch.asin."""
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of sinh. As torch.asinh."""
def arcsinh_(input: Tensor) -> Tensor:
    """The inverse of sinh. As torch.asinh."""
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose tangent is input. As torch.atan."""
def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input). As torch.atan2."""
def arctan2_(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (other, input). As torch.atan2."""
def arctan_(input: Tensor) -> Tensor:
    """The angle whose tangent is input. As torch.atan."""
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of tanh. As torch.atanh."""
def arctanh_(input: Tensor) -> Tensor:
    """The inverse of tanh. As torch.atanh."""
def argmax(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The index of the first largest (smallest) element, in the flattened tensor or along a dimension; nan wins. As torch.argmax."""
def argmin(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The index of the first smallest element. As torch.argmin."""
def argsort(input: Tensor, dim: _int = -1, descending: _bool = False, *, stable: Any = None, out: Tensor | None = None) -> Tensor:
    """The indices alone. As torch.argsort."""
def argwhere(input: Tensor) -> Tensor:
    """The positions of elements that are not zero, (count, dim). Waits for the device. As torch.nonzero, torch.argwhere."""
def as_strided(input: Tensor, size: _Shape, stride: _Shape, storage_offset: _int | None = None) -> Tensor:
    """Sizes and strides of your own over the same storage. Error where they reach outside. As torch.as_strided."""
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose sine is input. As torch.asin."""
def asin_(input: Tensor) -> Tensor:
    """The angle whose sine is input. As torch.asin."""
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of sinh. As torch.asinh."""
def asinh_(input: Tensor) -> Tensor:
    """The inverse of sinh. As torch.asinh."""
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose tangent is input. As torch.atan."""
def atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input). As torch.atan2."""
def atan2_(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (other, input). As torch.atan2."""
def atan_(input: Tensor) -> Tensor:
    """The angle whose tangent is input. As torch.atan."""
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of tanh. As torch.atanh."""
def atanh_(input: Tensor) -> Tensor:
    """The inverse of tanh. As torch.atanh."""
@overload
def atleast_1d(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """With at least one, two or three dimensions. As torch.atleast_1d and so on."""
@overload
def atleast_1d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """With at least one, two or three dimensions. As torch.atleast_1d and so on."""
@overload
def atleast_2d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """With at least one, two or three dimensions. As torch.atleast_1d and so on."""
@overload
def atleast_3d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
def avg_pool1d(input: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Means of windows of floating types or int64. As torch.nn.functional.avg_pool2d."""
def avg_pool2d(input: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Means of windows of floating types or int64. As torch.nn.functional.avg_pool2d."""
def avg_pool3d(input: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Means of windows of floating types or int64. As torch.nn.functional.avg_pool2d."""
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * batch1 batch2, a product of matrices for each batch: (b, n, k) by (b, k, m)."""
def batch_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, training: _bool = False, momentum: _float = 0.1, eps: _float = 1e-05, *, out: Tensor | None = None) -> Tensor:
    """Each channel of (N, C, …) with mean 0 and variance 1 over all else: by the running statistics (C), or, in training, by the input's own,
which change the running ones in place (the variance unbiased). Both may be undefined in training. As
torch.nn.functional.batch_norm."""
@overload
def bernoulli(input: Tensor, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """1 with probability p, in the sizes and type of `input`."""
@overload
def bernoulli(input: Tensor, p: _float, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor: ...
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """y[…, k] = x1 W[k] x2 + bias[k]; weight (out, in1, in2), `bias` may be undefined. As torch.nn.functional.bilinear."""
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """-(y log(x) + (1 - y) log(1 - x)) for probabilities x and targets y of the same sizes; logarithms not below -100. Error for an
x or y outside [0, 1], on a device at the next synchronization."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: _str = 'mean', pos_weight: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """The binary cross entropy of sigmoid(input), computed without it."""
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """How often each of 0, 1, … occurs in a vector of integers, or the sum of their weights; at least `minlength` entries. Waits for the
device. As torch.bincount."""
def bitwise_and(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input & other. As torch.bitwise_and."""
def bitwise_and_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input & other. As torch.bitwise_and."""
def bitwise_left_shift(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input << other. As torch.bitwise_left_shift."""
def bitwise_left_shift_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input << other. As torch.bitwise_left_shift."""
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """All bits turned over, logical_not of bool. As torch.bitwise_not."""
def bitwise_not_(input: Tensor) -> Tensor:
    """All bits turned over, logical_not of bool. As torch.bitwise_not."""
def bitwise_or(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input | other. As torch.bitwise_or."""
def bitwise_or_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input | other. As torch.bitwise_or."""
def bitwise_right_shift(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input >> other. As torch.bitwise_right_shift."""
def bitwise_right_shift_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input >> other. As torch.bitwise_right_shift."""
def bitwise_xor(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input ^ other. As torch.bitwise_xor."""
def bitwise_xor_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input ^ other. As torch.bitwise_xor."""
def block_diag(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Matrices of up to two dimensions along the diagonal of one that is zero elsewhere."""
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """(b, n, k) by (b, k, m)."""
def broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """All of them expanded to the sizes they broadcast to."""
def broadcast_to(input: Tensor, size: _Shape) -> Tensor:
    """Dimensions of size 1 repeated to `size`, without a copy. As torch.broadcast_to."""
def bucketize(input: Tensor | _Number, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False, out: Tensor | None = None) -> Tensor:
    """Between which two of the ascending `boundaries` each value lies, as an index. As torch.bucketize."""
def cartesian_prod(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """All combinations of one element of each vector, (count, vectors); one vector comes back as it is."""
def cat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Joined along an existing dimension; the other sizes must agree."""
def cdist(x1: Tensor, x2: Tensor, p: _float = 2, compute_mode: _str = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """Distances by the p-norm between all rows of x1 (…, n, k) and x2 (…, m, k): (…, n, m). `compute_mode` says when Euclid's may come from a
matrix product, which is faster and less precise. As torch.cdist."""
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The nearest whole number above. As torch.ceil."""
def ceil_(input: Tensor) -> Tensor:
    """The nearest whole number above. As torch.ceil."""
def celu(input: Tensor, alpha: _float = 1) -> Tensor:
    """input where input > 0, else alpha * (exp(input / alpha) - 1). Error for an alpha of 0."""
def celu_(input: Tensor, alpha: _float = 1) -> Tensor:
    """input where input > 0, else alpha * (exp(input / alpha) - 1). Error for an alpha of 0."""
def chain_matmul(matrices: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the cheapest order."""
def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """(N, C, …) with the channels of `groups` groups interleaved."""
def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` parts of the same size along a dimension, the last one smaller. As torch.chunk."""
@overload
def clamp(input: Tensor, min: _Number | None = None, max: _Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """Bounds an element; an undefined tensor is no bound."""
@overload
def clamp(input: Tensor, min: Tensor | None = None, max: Tensor | None = None, *, out: Tensor | None = None) -> Tensor: ...
def clamp_max(input: Tensor, max: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input, where it is above `max` that. As torch.clamp_max."""
def clamp_min(input: Tensor, min: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input, where it is below `min` that. As torch.clamp_min."""
@overload
def clip(input: Tensor, min: _Number | None = None, max: _Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """Bounds an element; an undefined tensor is no bound."""
@overload
def clip(input: Tensor, min: Tensor | None = None, max: Tensor | None = None, *, out: Tensor | None = None) -> Tensor: ...
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor: ...
def concat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Joined along an existing dimension; the other sizes must agree."""
def concatenate(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Joined along an existing dimension; the other sizes must agree."""
def constant_pad_nd(input: Tensor, pad: _Shape, value: _Number = 0, *, out: Tensor | None = None) -> Tensor:
    """As torch.constant_pad_nd."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Shape = 1, padding: _Shape | _str = 0, dilation: _Shape = 1, groups: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """input (n, c, spatial…) or (c, spatial…), weight (o, c / groups, kernel…), bias (o) or nothing, to (n, o, …). Of all types but
bool. Errors where sizes don't fit. As torch.nn.functional.conv2d."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Shape = 1, padding: _Shape | _str = 0, dilation: _Shape = 1, groups: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """input (n, c, spatial…) or (c, spatial…), weight (o, c / groups, kernel…), bias (o) or nothing, to (n, o, …). Of all types but
bool. Errors where sizes don't fit. As torch.nn.functional.conv2d."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Shape = 1, padding: _Shape | _str = 0, dilation: _Shape = 1, groups: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """input (n, c, spatial…) or (c, spatial…), weight (o, c / groups, kernel…), bias (o) or nothing, to (n, o, …). Of all types but
bool. Errors where sizes don't fit. As torch.nn.functional.conv2d."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: _int = 1, dilation: _Shape = 1, *, out: Tensor | None = None) -> Tensor:
    """input (n, c, spatial…) or (c, spatial…), weight (c, o / groups, kernel…), bias (o) or nothing, to (n, o, …): the gradient of a
convolution of these sizes. Of floating types and int64. As torch.nn.functional.conv_transpose2d."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: _int = 1, dilation: _Shape = 1, *, out: Tensor | None = None) -> Tensor:
    """input (n, c, spatial…) or (c, spatial…), weight (c, o / groups, kernel…), bias (o) or nothing, to (n, o, …): the gradient of a
convolution of these sizes. Of floating types and int64. As torch.nn.functional.conv_transpose2d."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Shape = 1, padding: _Shape = 0, output_padding: _Shape = 0, groups: _int = 1, dilation: _Shape = 1, *, out: Tensor | None = None) -> Tensor:
    """input (n, c, spatial…) or (c, spatial…), weight (c, o / groups, kernel…), bias (o) or nothing, to (n, o, …): the gradient of a
convolution of these sizes. Of floating types and int64. As torch.nn.functional.conv_transpose2d."""
def copysign(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The magnitude of input with the sign of other. As torch.copysign."""
def copysign_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """The magnitude of input with the sign of other. As torch.copysign."""
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cosine of radians. As torch.cos."""
def cos_(input: Tensor) -> Tensor:
    """The cosine of radians. As torch.cos."""
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic cosine. As torch.cosh."""
def cosh_(input: Tensor) -> Tensor:
    """The hyperbolic cosine. As torch.cosh."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """Of pairs (n, d) or (d): 1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08, *, out: Tensor | None = None) -> Tensor:
    """The cosine of the angle between x1 and x2 along `dim`, after broadcasting; norms count as at least eps. As
torch.nn.functional.cosine_similarity."""
def count_nonzero(input: Tensor, dim: _Shape | None = None) -> Tensor:
    """How many elements are not zero, int64. As torch.count_nonzero."""
def cross(input: Tensor, other: Tensor, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The vector product over a dimension of size 3, by default the first such. As torch.cross."""
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: _int = -100, reduction: _str = 'mean', label_smoothing: _float = 0, *, out: Tensor | None = None) -> Tensor:
    """Of logits and class indices, or class probabilities of the input's sizes. As torch.nn.functional.cross_entropy."""
@overload
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: _Shape, target_lengths: _Shape, blank: _int = 0, reduction: _str = 'mean', zero_infinity: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The lengths as integer tensors, which are read."""
@overload
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: _int = 0, reduction: _str = 'mean', zero_infinity: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def cummax(input: Tensor, dim: _int, *, out: Sequence[Tensor] | None = None) -> _cummax:
    """The largest (smallest) element so far and the latest index at which it was; nan wins. As torch.cummax, torch.cummin."""
def cummin(input: Tensor, dim: _int, *, out: Sequence[Tensor] | None = None) -> _cummin:
    """The largest (smallest) element so far and the latest index at which it was; nan wins. As torch.cummax, torch.cummin."""
def cumprod(input: Tensor, dim: _int, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor:
    """Running sums and products; integers and bools are int64 unless `dtype` says otherwise. As torch.cumsum, torch.cumprod."""
def cumsum(input: Tensor, dim: _int, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor:
    """Running sums and products; integers and bools are int64 unless `dtype` says otherwise. As torch.cumsum, torch.cumprod."""
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees in radians. As torch.deg2rad."""
def deg2rad_(input: Tensor) -> Tensor:
    """Degrees in radians. As torch.deg2rad."""
def diag(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """A matrix with the vector input on a diagonal; of a matrix the diagonal, copied. As torch.diag."""
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """New tensors, zero but for input on diagonals: over two new dimensions; a vector's, or a copy of a matrix's diagonal; all of input's elements'."""
def diagflat(input: Tensor, offset: _int = 0) -> Tensor:
    """A matrix with all elements of input on a diagonal. As torch.diagflat."""
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """The diagonal of two dimensions, as the last one. As torch.diagonal."""
def diff(input: Tensor, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element minus the one before it, `n` times over; `prepend` and `append`, where defined, are joined to input first. Of bools: whether
they differ. As torch.diff."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slope of lgamma. As torch.digamma."""
def digamma_(input: Tensor) -> Tensor:
    """The slope of lgamma. As torch.digamma."""
def dist(input: Tensor, other: Tensor, p: _float = 2) -> Tensor:
    """The p-norm of input - other. As torch.dist."""
@overload
def div(input: Tensor | _Number, other: Tensor | _Number, *, rounding_mode: _str, out: Tensor | None = None) -> Tensor:
    """input / other, of integers too a floating number. As torch.div."""
@overload
def div(input: Tensor | _Number, other: Tensor | _Number, *, rounding_mode: None | None = None, out: Tensor | None = None) -> Tensor: ...
def div_(input: Tensor, other: Tensor | _Number, *, rounding_mode: None | None = None) -> Tensor:
    """input / other, of integers too a floating number. As torch.div."""
@overload
def divide(input: Tensor | _Number, other: Tensor | _Number, *, rounding_mode: _str, out: Tensor | None = None) -> Tensor:
    """input / other, of integers too a floating number. As torch.div."""
@overload
def divide(input: Tensor | _Number, other: Tensor | _Number, *, rounding_mode: None | None = None, out: Tensor | None = None) -> Tensor: ...
def divide_(input: Tensor, other: Tensor | _Number, *, rounding_mode: None | None = None) -> Tensor:
    """input / other, of integers too a floating number. As torch.div."""
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of products of two vectors. As torch.dot."""
def dropout(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """Zeroes elements with probability p and scales the others by 1 / (1 - p); the tensor itself unless training. As
torch.nn.functional.dropout."""
def dropout1d(input: Tensor, p: _float = 0.5, training: _bool = True, *, out: Tensor | None = None) -> Tensor:
    """feature_dropout of (N, C, L) or (C, L), and of nothing else; of (N, C, …), three dimensions being (N, C, L), as PyTorch reads them; of
(N, C, D, H, W), any other number of dimensions being (C, …). As torch.nn.functional.dropout1d and so on, which warn of unusual ones."""
def dropout2d(input: Tensor, p: _float = 0.5, training: _bool = True, *, out: Tensor | None = None) -> Tensor:
    """feature_dropout of (N, C, L) or (C, L), and of nothing else; of (N, C, …), three dimensions being (N, C, L), as PyTorch reads them; of
(N, C, D, H, W), any other number of dimensions being (C, …). As torch.nn.functional.dropout1d and so on, which warn of unusual ones."""
def dropout3d(input: Tensor, p: _float = 0.5, training: _bool = True, *, out: Tensor | None = None) -> Tensor:
    """feature_dropout of (N, C, L) or (C, L), and of nothing else; of (N, C, …), three dimensions being (N, C, L), as PyTorch reads them; of
(N, C, D, H, W), any other number of dimensions being (C, …). As torch.nn.functional.dropout1d and so on, which warn of unusual ones."""
def dropout_(input: Tensor, p: _float = 0.5, training: _bool = True) -> Tensor:
    """dropout in place."""
@overload
def dsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]: ...
@overload
def dsplit(input: Tensor, indices: _Shape) -> tuple[Tensor, ...]: ...
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined in depth. As torch.dstack."""
def elu(input: Tensor, alpha: _float = 1, *, out: Tensor | None = None) -> Tensor:
    """input where input > 0, else alpha * (exp(input) - 1)."""
def elu_(input: Tensor, alpha: _float = 1) -> Tensor:
    """input where input > 0, else alpha * (exp(input) - 1)."""
def embedding(input: Tensor, weight: Tensor, padding_idx: _int | None = None, max_norm: _float | None = None, norm_type: _float = 2, scale_grad_by_freq: _bool = False, *, sparse: Any = None, out: Tensor | None = None) -> Tensor:
    """Rows of `weight` (n, d) at `input` (…), to (…, d). An index outside [0, n) is an error. As torch.nn.functional.embedding.
Rows at `padding_idx` get no gradient; rows in use whose `norm_type`-norm is over `max_norm` are scaled down to it in place first;
`scale_grad_by_freq` divides a row's gradient by how often its index occurs."""
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: _float | None = None, norm_type: _float = 2, scale_grad_by_freq: _bool = False, mode: _str = 'mean', per_sample_weights: Tensor | None = None, include_last_offset: _bool = False, padding_idx: _int | None = None, *, sparse: Any = None, out: Tensor | None = None) -> Tensor:
    """For each bag the sum, mean or maximum of the rows of `weight` (n, d) at its indices, to (bags, d); empty bags give zeros. Bags are the
rows of 2-D indices, or the parts of a list of them. As torch.nn.functional.embedding_bag."""
@overload
def empty(size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor:
    """Uninitialised memory. Error for negative sizes and more than 2^63 bytes."""
@overload
def empty(*size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor: ...
def empty_like(input: Tensor, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor:
    """The sizes, dtype and device of `input` unless options say otherwise."""
def eq(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input == other. As torch.eq."""
def eq_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input == other. As torch.eq."""
def equal(input: Tensor, other: Tensor) -> _bool:
    """Whether both have the same sizes and the same values. Waits for the devices. As torch.equal."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function. As torch.erf."""
def erf_(input: Tensor) -> Tensor:
    """The error function. As torch.erf."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 - erf(input), precise for large input. As torch.erfc."""
def erfc_(input: Tensor) -> Tensor:
    """1 - erf(input), precise for large input. As torch.erfc."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The number whose erf is input. As torch.erfinv."""
def erfinv_(input: Tensor) -> Tensor:
    """The number whose erf is input. As torch.erfinv."""
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """e raised to each element. As torch.exp."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 raised to each element. As torch.exp2."""
def exp2_(input: Tensor) -> Tensor:
    """2 raised to each element. As torch.exp2."""
def exp_(input: Tensor) -> Tensor:
    """e raised to each element. As torch.exp."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(input) - 1, precise near zero. As torch.expm1."""
def expm1_(input: Tensor) -> Tensor:
    """exp(input) - 1, precise near zero. As torch.expm1."""
def eye(n: _int, m: _int | None = None, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor:
    """The identity, n by m (n by n without m)."""
def feature_alpha_dropout(input: Tensor, p: _float = 0.5, training: _bool = False) -> Tensor:
    """alpha_dropout of whole channels. As torch.nn.functional.feature_alpha_dropout."""
def feature_dropout(input: Tensor, p: _float, training: _bool, *, out: Tensor | None = None) -> Tensor:
    """Whole channels of (N, C, …) zeroed with probability p, the others scaled by 1 / (1 - p). As torch.feature_dropout."""
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The whole part. As torch.trunc."""
def fix_(input: Tensor) -> Tensor:
    """The whole part. As torch.trunc."""
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Dimensions start_dim to end_dim as one. As torch.flatten."""
def flip(input: Tensor, dims: _Shape) -> Tensor:
    """The order along each of `dims` reversed: a copy."""
def fliplr(input: Tensor) -> Tensor:
    """Columns (the second dimension) and rows (the first) reversed."""
def flipud(input: Tensor) -> Tensor:
    """flip of the first dimension. As torch.flipud."""
def float_power(input: Tensor | _Number, exponent: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input raised to exponent, both in float64. As torch.float_power."""
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The nearest whole number below. As torch.floor."""
def floor_(input: Tensor) -> Tensor:
    """The nearest whole number below. As torch.floor."""
def floor_divide(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input / other rounded down. As torch.floor_divide."""
def floor_divide_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input / other rounded down. As torch.floor_divide."""
def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger, nan loses. As torch.fmax."""
def fmax_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """The larger, nan loses. As torch.fmax."""
def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller, nan loses. As torch.fmin."""
def fmin_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """The smaller, nan loses. As torch.fmin."""
def fmod(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """What division rounded towards zero leaves, with the sign of input. As torch.fmod."""
def fmod_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """What division rounded towards zero leaves, with the sign of input. As torch.fmod."""
def fold(input: Tensor, output_size: _Shape, kernel_size: _Shape, dilation: _Shape = 1, padding: _Shape = 0, stride: _Shape = 1, *, out: Tensor | None = None) -> Tensor:
    """input (n, c * kernel, windows) or (c * kernel, windows) to (n, c, output_size…): what windows have at a place is added up. As
torch.nn.functional.fold."""
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """What trunc takes away. As torch.frac."""
def frac_(input: Tensor) -> Tensor:
    """What trunc takes away. As torch.frac."""
def fractional_max_pool2d(input: Tensor, kernel_size: _Shape, output_size: _Shape | None = None, output_ratio: Sequence[_float] | None = None, random_samples: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """The largest element of each window of (n, c, spatial…) or (c, spatial…), which are spread as evenly as whole numbers allow and moved by
a random number for each sample, channel and dimension. Floating types. Error without a size or a ratio, and where the windows do not
fit. As torch.nn.functional.fractional_max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within
(spatial…). B. Graham, "Fractional max-pooling" (2014)."""
def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: _Shape, output_size: _Shape | None = None, output_ratio: Sequence[_float] | None = None, random_samples: Tensor | None = None, *, out: Sequence[Tensor] | None = None) -> _fractional_max_pool2d_with_indices:
    """The largest element of each window of (n, c, spatial…) or (c, spatial…), which are spread as evenly as whole numbers allow and moved by
a random number for each sample, channel and dimension. Floating types. Error without a size or a ratio, and where the windows do not
fit. As torch.nn.functional.fractional_max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within
(spatial…). B. Graham, "Fractional max-pooling" (2014)."""
def fractional_max_pool3d(input: Tensor, kernel_size: _Shape, output_size: _Shape | None = None, output_ratio: Sequence[_float] | None = None, random_samples: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """The largest element of each window of (n, c, spatial…) or (c, spatial…), which are spread as evenly as whole numbers allow and moved by
a random number for each sample, channel and dimension. Floating types. Error without a size or a ratio, and where the windows do not
fit. As torch.nn.functional.fractional_max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within
(spatial…). B. Graham, "Fractional max-pooling" (2014)."""
def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: _Shape, output_size: _Shape | None = None, output_ratio: Sequence[_float] | None = None, random_samples: Tensor | None = None, *, out: Sequence[Tensor] | None = None) -> _fractional_max_pool3d_with_indices:
    """The largest element of each window of (n, c, spatial…) or (c, spatial…), which are spread as evenly as whole numbers allow and moved by
a random number for each sample, channel and dimension. Floating types. Error without a size or a ratio, and where the windows do not
fit. As torch.nn.functional.fractional_max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within
(spatial…). B. Graham, "Fractional max-pooling" (2014)."""
def full(size: _Shape, fill_value: _Number, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor:
    """All elements `fill_value`; its kind decides the dtype where none is given... except that floating values give the default dtype."""
def full_like(input: Tensor, fill_value: _Number, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor:
    """All `fill_value`, otherwise as empty_like."""
def gather(input: Tensor, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y[i][j] = input[index[i][j]][j] for dim 0, and so on. As torch.gather."""
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | _Number, full: _bool = False, eps: _float = 1e-06, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """(log(var) + (input - target)^2 / var) / 2, var not below eps; `full` adds the constant. Error for a negative variance."""
def ge(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input >= other. As torch.ge."""
def ge_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input >= other. As torch.ge."""
def gelu(input: Tensor, *, approximate: _str = 'none', out: Tensor | None = None) -> Tensor:
    """The Gaussian error linear unit: exact ("none"), or by "tanh"."""
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input[i] * vec2[j] of two vectors."""
def glu(input: Tensor, dim: _int = -1, *, out: Tensor | None = None) -> Tensor:
    """a * sigmoid(b), a and b the halves of input along `dim`. Error where its size is odd."""
def greater(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input > other. As torch.gt."""
def greater_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input > other. As torch.gt."""
def greater_equal(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input >= other. As torch.ge."""
def greater_equal_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input >= other. As torch.ge."""
def grid_sample(input: Tensor, grid: Tensor, mode: _str = 'bilinear', padding_mode: _str = 'zeros', align_corners: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """(N, C, H, W) read at grid (N, h, w, 2), or (N, C, D, H, W) at (N, d, h, w, 3): points (x, y) in [-1, 1]. As
torch.nn.functional.grid_sample."""
def group_norm(input: Tensor, num_groups: _int, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-05, *, out: Tensor | None = None) -> Tensor:
    """Normalized over groups of channels of (N, C, …); weight and bias are (C). As torch.nn.functional.group_norm."""
def gru(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: _bool = True, num_layers: _int = 1, dropout: _float = 0, train: _bool = False, bidirectional: _bool = False, batch_first: _bool = False) -> tuple[Tensor, Tensor]:
    """A recurrent network of gated units over a sequence. As torch.gru."""
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """As torch.gru_cell."""
def gt(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input > other. As torch.gt."""
def gt_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input > other. As torch.gt."""
def gumbel_softmax(logits: Tensor, tau: _float = 1, hard: _bool = False, dim: _int = -1, *, out: Tensor | None = None) -> Tensor:
    """softmax((logits + noise) / tau) with Gumbel noise: a sample of the categories. `hard`: one-hot, with the gradient of the soft one. As
torch.nn.functional.gumbel_softmax."""
def hardshrink(input: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """input where |input| > lambd, else 0."""
def hardsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """max(0, min(6, input + 3)) / 6. As torch.hardsigmoid."""
def hardsigmoid_(input: Tensor) -> Tensor:
    """max(0, min(6, input + 3)) / 6. As torch.hardsigmoid."""
def hardswish(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * hardsigmoid(input). As torch.hardswish."""
def hardswish_(input: Tensor) -> Tensor:
    """input * hardsigmoid(input). As torch.hardswish."""
def hardtanh(input: Tensor, min_val: _float = -1, max_val: _float = 1, *, out: Tensor | None = None) -> Tensor:
    """Within [min_val, max_val]. Integers too."""
def hardtanh_(input: Tensor, min_val: _float = -1, max_val: _float = 1) -> Tensor:
    """Within [min_val, max_val]. Integers too."""
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 below zero, 1 above, values at zero. As torch.heaviside."""
def heaviside_(input: Tensor, values: Tensor) -> Tensor:
    """0 below zero, 1 above, values at zero. As torch.heaviside."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = 1, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """input where the target is 1, max(0, margin - input) where it is -1."""
def histc(input: Tensor, bins: _int = 100, min: _float = 0, max: _float = 0, *, out: Tensor | None = None) -> Tensor:
    """How many elements lie in each of `bins` equal parts of [min, max], or of the range of input where both are equal. Others are left out.
Floating dtypes. As torch.histc."""
@overload
def hsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]: ...
@overload
def hsplit(input: Tensor, indices: _Shape) -> tuple[Tensor, ...]: ...
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined sideways (along the second dimension, vectors along their own), downwards (the first), and in depth (the third); column_stack
takes vectors as columns. As torch.hstack and so on."""
def huber_loss(input: Tensor, target: Tensor, reduction: _str = 'mean', delta: _float = 1, weight: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """d^2 / 2 for d = |input - target| <= delta, else delta * (d - delta / 2)."""
def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sqrt(input * input + other * other). As torch.hypot."""
def hypot_(input: Tensor, other: Tensor) -> Tensor:
    """sqrt(input * input + other * other). As torch.hypot."""
def index_add(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """input with alpha times the slices of `source` added at `index`. As torch.index_add."""
def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input with the slices of `source` in place of those at `index`. As torch.index_copy."""
def index_fill(input: Tensor, dim: _int, index: Tensor, value: Tensor | _Number) -> Tensor:
    """input with `value` (a number or a 0-dim tensor) in the slices at `index`. As torch.index_fill."""
def index_reduce(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: _str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """input with the slices of `source` combined by "prod", "mean", "amax" or "amin" at `index`, with those of input where `include_self`. As
torch.index_reduce."""
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Slices of input along a dimension, in the order of a vector `index`. As torch.index_select."""
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sums of products over the last dimensions; with a 0-dim tensor input * other. As torch.inner."""
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: _bool = True, momentum: _float = 0.1, eps: _float = 1e-05, *, out: Tensor | None = None) -> Tensor:
    """As batch_norm, with statistics of its own for each sample of (N, C, …). As torch.nn.functional.instance_norm."""
def interpolate(input: Tensor, size: _Shape | None = None, scale_factor: Sequence[_float] | None = None, mode: _str = 'nearest', align_corners: _bool | None = None, recompute_scale_factor: _bool = False, antialias: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """(N, C, places…) with one, two or three dimensions of places, at other sizes. As torch.nn.functional.interpolate. Where rounding down
makes the size that a factor gives the input's own, the result is the input, but for "nearest-exact" and for "bicubic" without
antialias; where it makes twice that, "nearest" takes each element twice."""
def isclose(input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
    """Whether |input - other| <= atol + rtol * |other|, or both are the same. Error for different dtypes and negative tolerances."""
def isfinite(input: Tensor) -> Tensor:
    """Whether each element is neither nan nor infinite. As torch.isfinite."""
def isin(elements: Tensor | _Number, test_elements: Tensor | _Number, *, assume_unique: _bool = False, invert: _bool = False, out: Tensor | None = None) -> Tensor:
    """Whether each element is one of `test_elements`; the other way round with `invert`. As torch.isin."""
def isinf(input: Tensor) -> Tensor:
    """Whether each element is infinite. As torch.isinf."""
def isnan(input: Tensor) -> Tensor:
    """Whether each element is nan. As torch.isnan."""
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is minus infinity. As torch.isneginf."""
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is infinity. As torch.isposinf."""
def kl_div(input: Tensor, target: Tensor, reduction: _str = 'mean', *, log_target: _bool = False, out: Tensor | None = None) -> Tensor:
    """target * (log(target) - input), input being log-probabilities; with log_target the target too."""
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Kronecker's product."""
def kthvalue(input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None) -> _kthvalue:
    """The k-th smallest element along a dimension, k counted from 1. As torch.kthvalue."""
def l1_loss(input: Tensor, target: Tensor, reduction: _str = 'mean', weight: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """|input - target|."""
def layer_norm(input: Tensor, normalized_shape: _Shape, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-05, *, out: Tensor | None = None) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, whose sizes are `normalized_shape`; weight and bias have these sizes or are undefined.
As torch.nn.functional.layer_norm."""
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * 2^other. As torch.ldexp."""
def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """input * 2^other. As torch.ldexp."""
def le(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input <= other. As torch.le."""
def le_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input <= other. As torch.le."""
def leaky_relu(input: Tensor, negative_slope: _float = 0.01, *, out: Tensor | None = None) -> Tensor:
    """max(0, input) + negative_slope * min(0, input)."""
def leaky_relu_(input: Tensor, negative_slope: _float = 0.01) -> Tensor:
    """max(0, input) + negative_slope * min(0, input)."""
def lerp(input: Tensor | _Number, end: Tensor | _Number, weight: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """start + weight * (end - start)."""
def less(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input < other. As torch.lt."""
def less_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input < other. As torch.lt."""
def less_equal(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input <= other. As torch.le."""
def less_equal_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input <= other. As torch.le."""
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of |gamma(input)|. As torch.lgamma."""
def lgamma_(input: Tensor) -> Tensor:
    """The logarithm of |gamma(input)|. As torch.lgamma."""
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """input Wᵀ + bias over the last dimension; `weight` is (out, in), `bias` may be undefined. As torch.nn.functional.linear."""
def linspace(start: Tensor | _Number, end: Tensor | _Number, steps: _int, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor:
    """`steps` numbers from start to end, both included."""
def local_response_norm(input: Tensor, size: _int, alpha: _float = 0.0001, beta: _float = 0.75, k: _float = 1, *, out: Tensor | None = None) -> Tensor:
    """x / (k + alpha * the mean of squares over `size` neighbouring channels) ^ beta. As torch.nn.functional.local_response_norm."""
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm. As torch.log."""
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 10. As torch.log10."""
def log10_(input: Tensor) -> Tensor:
    """The logarithm to base 10. As torch.log10."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(1 + input), precise near zero. As torch.log1p."""
def log1p_(input: Tensor) -> Tensor:
    """log(1 + input), precise near zero. As torch.log1p."""
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 2. As torch.log2."""
def log2_(input: Tensor) -> Tensor:
    """The logarithm to base 2. As torch.log2."""
def log_(input: Tensor) -> Tensor:
    """The natural logarithm. As torch.log."""
@overload
def log_softmax(input: Tensor, dim: _int, dtype: None | None = None, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of softmax, computed without it."""
@overload
def log_softmax(input: Tensor, dim: _int, dtype: _DType, *, out: Tensor | None = None) -> Tensor: ...
def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(exp(input) + exp(other)). As torch.logaddexp."""
def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log2(2^input + 2^other). As torch.logaddexp2."""
def logaddexp2_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """log2(2^input + 2^other). As torch.logaddexp2."""
def logaddexp_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """log(exp(input) + exp(other)). As torch.logaddexp."""
def logcumsumexp(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """log(cumsum(exp(input))) that does not overflow. Floating dtypes. As torch.logcumsumexp."""
def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether both are not zero. As torch.logical_and."""
def logical_and_(input: Tensor, other: Tensor) -> Tensor:
    """Whether both are not zero. As torch.logical_and."""
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is zero. As torch.logical_not."""
def logical_not_(input: Tensor) -> Tensor:
    """Whether each element is zero. As torch.logical_not."""
def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether one is not zero. As torch.logical_or."""
def logical_or_(input: Tensor, other: Tensor) -> Tensor:
    """Whether one is not zero. As torch.logical_or."""
def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether exactly one is not zero. As torch.logical_xor."""
def logical_xor_(input: Tensor, other: Tensor) -> Tensor:
    """Whether exactly one is not zero. As torch.logical_xor."""
def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(input / (1 - input)), input first brought within [eps, 1 - eps] where an eps is given."""
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(sigmoid(input)). As torch.logsigmoid."""
def logsigmoid_(input: Tensor) -> Tensor:
    """log(sigmoid(input)). As torch.logsigmoid."""
def logspace(start: Tensor | _Number, end: Tensor | _Number, steps: _int, base: _float = 10, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor:
    """base raised to each number of linspace."""
def logsumexp(input: Tensor, dim: _Shape, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(input))), taken from the maximum so that it cannot overflow. As torch.logsumexp."""
def lp_pool1d(input: Tensor, norm_type: _float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The norm_type-norms of windows: (sum of x^p)^(1/p). As torch.nn.functional.lp_pool2d."""
def lp_pool2d(input: Tensor, norm_type: _float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The norm_type-norms of windows: (sum of x^p)^(1/p). As torch.nn.functional.lp_pool2d."""
def lp_pool3d(input: Tensor, norm_type: _float, kernel_size: _Shape, stride: _Shape | None = None, ceil_mode: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The norm_type-norms of windows: (sum of x^p)^(1/p). As torch.nn.functional.lp_pool2d."""
def lstm(input: Tensor, hx: Sequence[Tensor], params: Sequence[Tensor], has_biases: _bool = True, num_layers: _int = 1, dropout: _float = 0, train: _bool = False, bidirectional: _bool = False, batch_first: _bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """hx: the states to begin with, (layers * directions, N, hidden): h for all, and c for an LSTM. With batch_first, input and output are (N,
T, …). `dropout` between layers is for training only."""
def lstm_cell(input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """One step of (N, input) from states (N, hidden); biases may be undefined. As torch.lstm_cell and the others."""
def lt(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input < other. As torch.lt."""
def lt_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input < other. As torch.lt."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """max(0, margin - target * (input1 - input2))."""
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | _Number) -> Tensor:
    """input with `value` where `mask` is true. As torch.Tensor.masked_fill."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """input with the elements of `source`, one after another, where `mask` is true. Waits for the device: source must have enough of them. As
torch.Tensor.masked_scatter."""
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements where `mask` is true, as a vector. Waits for the device: the size depends on the data."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """By PyTorch's rules: vectors, matrices, and batches that broadcast. As torch.matmul."""
@overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The largest (smallest) element; nan wins. Along a dimension with the index of the first such. As torch.max, torch.min."""
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None) -> _max: ...
def max_pool1d(input: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """input (n, c, spatial…) or (c, spatial…). Errors where a window is empty or a padding more than half of it. As
torch.nn.functional.max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within (spatial…)."""
def max_pool1d_with_indices(input: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: _bool = False, *, out: Sequence[Tensor] | None = None) -> _max_pool1d_with_indices:
    """input (n, c, spatial…) or (c, spatial…). Errors where a window is empty or a padding more than half of it. As
torch.nn.functional.max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within (spatial…)."""
def max_pool2d(input: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """input (n, c, spatial…) or (c, spatial…). Errors where a window is empty or a padding more than half of it. As
torch.nn.functional.max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within (spatial…)."""
def max_pool2d_with_indices(input: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: _bool = False, *, out: Sequence[Tensor] | None = None) -> _max_pool2d_with_indices:
    """input (n, c, spatial…) or (c, spatial…). Errors where a window is empty or a padding more than half of it. As
torch.nn.functional.max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within (spatial…)."""
def max_pool3d(input: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """input (n, c, spatial…) or (c, spatial…). Errors where a window is empty or a padding more than half of it. As
torch.nn.functional.max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within (spatial…)."""
def max_pool3d_with_indices(input: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, dilation: _Shape = 1, ceil_mode: _bool = False, *, out: Sequence[Tensor] | None = None) -> _max_pool3d_with_indices:
    """input (n, c, spatial…) or (c, spatial…). Errors where a window is empty or a padding more than half of it. As
torch.nn.functional.max_pool2d; the `_with_indices` forms are those with return_indices=True: indices count within (spatial…)."""
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, output_size: _Shape | None = None, *, out: Tensor | None = None) -> Tensor:
    """The elements, of floating types, at their indices in a tensor that is zero elsewhere. As torch.nn.functional.max_unpool2d."""
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, output_size: _Shape | None = None, *, out: Tensor | None = None) -> Tensor:
    """The elements, of floating types, at their indices in a tensor that is zero elsewhere. As torch.nn.functional.max_unpool2d."""
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: _Shape, stride: _Shape | None = None, padding: _Shape = 0, output_size: _Shape | None = None, *, out: Tensor | None = None) -> Tensor:
    """The elements, of floating types, at their indices in a tensor that is zero elsewhere. As torch.nn.functional.max_unpool2d."""
def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger, nan wins. As torch.maximum."""
def maximum_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """The larger, nan wins. As torch.maximum."""
@overload
def mean(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Error for integers, unless a floating `dtype` is given. As torch.mean."""
@overload
def mean(input: Tensor, *, dtype: _DType, out: Tensor | None = None) -> Tensor: ...
@overload
def mean(input: Tensor, dim: _Shape | None = None, keepdim: _bool = False, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def median(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The middle element, of two the lower; nan where there is one. nanmedian: of those that are not nan. As torch.median, torch.nanmedian."""
@overload
def median(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None) -> _median: ...
@overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None) -> _min: ...
def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller, nan wins. As torch.minimum."""
def minimum_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """The smaller, nan wins. As torch.minimum."""
def mish(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * tanh(log(1 + exp(input))). As torch.mish."""
def mish_(input: Tensor) -> Tensor:
    """input * tanh(log(1 + exp(input))). As torch.mish."""
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """(n, k) by (k, m)."""
def mode(input: Tensor, dim: _int = -1, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None) -> _mode:
    """The most frequent element along a dimension, of several the smallest, and the last index at which it is. As torch.mode."""
@overload
def moveaxis(input: Tensor, source: _int, destination: _int) -> Tensor:
    """Dimensions to other places; the others keep their order. As torch.movedim."""
@overload
def moveaxis(input: Tensor, source: _Shape, destination: _Shape) -> Tensor: ...
@overload
def movedim(input: Tensor, source: _int, destination: _int) -> Tensor:
    """Dimensions to other places; the others keep their order. As torch.movedim."""
@overload
def movedim(input: Tensor, source: _Shape, destination: _Shape) -> Tensor: ...
def mse_loss(input: Tensor, target: Tensor, reduction: _str = 'mean', weight: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """(input - target)^2. As torch.nn.functional.mse_loss."""
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sorted along dimension 0. As torch.msort."""
def mul(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input * other. As torch.mul."""
def mul_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input * other. As torch.mul."""
def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: _int, num_heads: _int, in_proj_weight: Tensor | None = None, in_proj_bias: Tensor | None = None, bias_k: Tensor | None = None, bias_v: Tensor | None = None, add_zero_attn: _bool = False, dropout_p: _float = 0, out_proj_weight: Tensor | None = None, out_proj_bias: Tensor | None = None, training: _bool = True, key_padding_mask: Tensor | None = None, need_weights: _bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: _bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: _bool = True, is_causal: _bool = False, batch_first: _bool = False) -> tuple[Tensor, ...]:
    """Query (L, N, E), key and value (S, N, E), or each without N. Error unless num_heads divides E, and for masks of other sizes. As
torch.nn.functional.multi_head_attention_forward."""
def multi_margin_loss(input: Tensor, target: Tensor, p: _int = 1, margin: _float = 1, weight: Tensor | None = None, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """The sum over the classes j but the target t of max(0, margin - x[t] + x[j])^p / c, p 1 or 2. Input (n, c) or (c)."""
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """The sum over the targets t and other classes j of max(0, 1 - (x[t] - x[j])) / c. A row of the target lists classes up to the first -1."""
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """Binary cross-entropy of the logits, averaged over the last dimension."""
def multinomial(input: Tensor, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Categories (int64) drawn for each row of weights (n) or (m, n), which need not sum to 1. Error for negative, infinite or all-zero
weights, and without replacement for more draws than weights above 0. As torch.multinomial."""
def multiply(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input * other. As torch.mul."""
def multiply_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input * other. As torch.mul."""
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A matrix times a vector. As torch.mv."""
def nan_to_num(input: Tensor, nan: _float = 0, posinf: _float | None = None, neginf: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """nan and the infinities replaced: by default 0 and the dtype's largest and lowest numbers. Integers as they are."""
def nanmean(input: Tensor, dim: _Shape | None = None, keepdim: _bool = False, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor:
    """The mean of the elements that are not nan. As torch.nanmean."""
@overload
def nanmedian(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The middle element, of two the lower; nan where there is one. nanmedian: of those that are not nan. As torch.median, torch.nanmedian."""
@overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None) -> _nanmedian: ...
def nanquantile(input: Tensor, q: Tensor | _Number, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', out: Tensor | None = None) -> Tensor:
    """The q-quantiles, of all elements or along a dimension; a vector of q gives a first dimension. Between two elements `interpolation`
decides: linear, lower, higher, midpoint or nearest. float32 and float64. As torch.quantile, torch.nanquantile."""
def nansum(input: Tensor, dim: _Shape | None = None, keepdim: _bool = False, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor:
    """The sum of the elements that are not nan. As torch.nansum."""
@overload
def narrow(input: Tensor, dim: _int, start: _int, length: _int) -> Tensor:
    """Waits for the device that holds `start`, a 0-dim integer tensor."""
@overload
def narrow(input: Tensor, dim: _int, start: Tensor, length: _int) -> Tensor: ...
def ne(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input != other. As torch.ne."""
def ne_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input != other. As torch.ne."""
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The negative of each element. As torch.neg."""
def neg_(input: Tensor) -> Tensor:
    """The negative of each element. As torch.neg."""
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The negative of each element. As torch.neg."""
def negative_(input: Tensor) -> Tensor:
    """The negative of each element. As torch.neg."""
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: _int = -100, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """Of log-probabilities and class indices."""
@overload
def norm(input: Tensor, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """"fro", the root of the sum of squares over `dim`, or "nuc", the sum of singular values."""
@overload
def norm(input: Tensor, p: _float, dim: _Shape | None = None, keepdim: _bool = False, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def norm(input: Tensor, p: _str, dim: _Shape | None = None, keepdim: _bool = False, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def normal(mean: Tensor | _Number, std: Tensor | _Number = 1, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Normal with a mean and a deviation for each element, one of them a tensor; or of given sizes. Error for a negative deviation."""
@overload
def normal(mean: _float, std: _float, size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None, generator: Generator | None = None) -> Tensor: ...
def normalize(input: Tensor, p: _float = 2, dim: _Shape = 1, eps: _float = 1e-12, *, out: Tensor | None = None) -> Tensor:
    """x / max(its p-norm along the dimensions `dim`, eps). As torch.nn.functional.normalize."""
def not_equal(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input != other. As torch.ne."""
def not_equal_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input != other. As torch.ne."""
def one_hot(input: Tensor, num_classes: _int = -1, *, out: Tensor | None = None) -> Tensor:
    """A new last dimension of `num_classes` (else the largest plus one; then waits for the device), 1 at each index, else 0. int64. As
torch.nn.functional.one_hot."""
@overload
def ones(size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor:
    """All elements 1. As torch.ones."""
@overload
def ones(*size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor: ...
def ones_like(input: Tensor, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor:
    """All 1, otherwise as empty_like."""
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input[i] * vec2[j] of two vectors."""
def pad(input: Tensor, pad: _Shape, mode: _str = 'constant', value: _Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """`pad` counts elements before and behind the last dimension, then the one before it, and so on; negative ones cut. mode: "constant" (any
number of dimensions, `value` in the new places, 0 where not given), or "reflect", "replicate", "circular", which pad the last one to
three dimensions of a tensor that has one or two more. Errors where the sizes don't allow it. As torch.nn.functional.pad."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: _float = 2, eps: _float = 1e-06, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension. As torch.nn.functional.pairwise_distance."""
def permute(input: Tensor, dims: _Shape) -> Tensor:
    """The dimensions in another order. As torch.permute."""
def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """(…, C r^2, H, W) to (…, C, H r, W r)."""
def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """(…, C, H r, W r) to (…, C r^2, H, W)."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: _bool = True, full: _bool = False, eps: _float = 1e-08, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """exp(input) - target * input, or input - target * log(input + eps); `full` adds Stirling's formula for log(target!)."""
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th slope of digamma. Error for a negative n."""
def positive(input: Tensor) -> Tensor:
    """input itself. Error for bool."""
def pow(input: Tensor | _Number, exponent: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input raised to exponent. As torch.pow."""
def pow_(input: Tensor, exponent: Tensor | _Number) -> Tensor:
    """input raised to exponent. As torch.pow."""
def prelu(input: Tensor, weight: Tensor, *, out: Tensor | None = None) -> Tensor:
    """leaky_relu with a slope of its own for each channel (dimension 1), or one for all."""
@overload
def prod(input: Tensor, *, dtype: None | None = None, out: Tensor | None = None) -> Tensor:
    """The product of all elements, or along a dimension. As torch.prod."""
@overload
def prod(input: Tensor, *, dtype: _DType, out: Tensor | None = None) -> Tensor: ...
@overload
def prod(input: Tensor, dim: _int, keepdim: _bool = False, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor: ...
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """input with the elements of `source` at these places, added where `accumulate`. As torch.put."""
def quantile(input: Tensor, q: Tensor | _Number, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', out: Tensor | None = None) -> Tensor:
    """The q-quantiles, of all elements or along a dimension; a vector of q gives a first dimension. Between two elements `interpolation`
decides: linear, lower, higher, midpoint or nearest. float32 and float64. As torch.quantile, torch.nanquantile."""
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians in degrees. As torch.rad2deg."""
def rad2deg_(input: Tensor) -> Tensor:
    """Radians in degrees. As torch.rad2deg."""
@overload
def rand(size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None, generator: Generator | None = None) -> Tensor:
    """Uniform in [0, 1)."""
@overload
def rand(*size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None, generator: Generator | None = None) -> Tensor: ...
def rand_like(input: Tensor, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, generator: Generator | None = None) -> Tensor:
    """rand of the sizes, dtype and device of `input`."""
@overload
def randint(low: _int, high: _int, size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None, generator: Generator | None = None) -> Tensor:
    """Integers in [low, high), int64 unless told otherwise."""
@overload
def randint(high: _int, size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None, generator: Generator | None = None) -> Tensor: ...
@overload
def randint_like(input: Tensor, low: _int, high: _int, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, generator: Generator | None = None) -> Tensor:
    """randint of the sizes, dtype and device of `input`."""
@overload
def randint_like(input: Tensor, high: _int, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, generator: Generator | None = None) -> Tensor: ...
@overload
def randn(size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None, generator: Generator | None = None) -> Tensor:
    """Normal, mean 0 and deviation 1."""
@overload
def randn(*size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None, generator: Generator | None = None) -> Tensor: ...
def randn_like(input: Tensor, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, generator: Generator | None = None) -> Tensor:
    """randn of the sizes, dtype and device of `input`."""
def randperm(n: _int, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None, generator: Generator | None = None) -> Tensor:
    """A permutation of 0 … n-1."""
def ravel(input: Tensor) -> Tensor:
    """As one dimension."""
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / input. As torch.reciprocal."""
def reciprocal_(input: Tensor) -> Tensor:
    """1 / input. As torch.reciprocal."""
def relu(input: Tensor) -> Tensor:
    """max(0, input). As torch.relu."""
def relu6(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """min(6, max(0, input)). As torch.relu6."""
def relu6_(input: Tensor) -> Tensor:
    """min(6, max(0, input)). As torch.relu6."""
def relu_(input: Tensor) -> Tensor:
    """max(0, input). As torch.relu."""
def remainder(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """What floor_divide leaves, with the sign of other. As torch.remainder."""
def remainder_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """What floor_divide leaves, with the sign of other. As torch.remainder."""
def repeat(input: Tensor, repeats: _Shape, *, out: Tensor | None = None) -> Tensor:
    """Copies laid behind each other, `repeats[i]` times along dimension i; more repeats than dimensions add leading ones."""
@overload
def repeat_interleave(input: Tensor, repeats: _int, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
    """0, 1, … each as often as `repeats` says."""
@overload
def repeat_interleave(input: Tensor, repeats: Tensor, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor: ...
@overload
def repeat_interleave(repeats: Tensor, *, output_size: _int | None = None) -> Tensor: ...
def reshape(input: Tensor, shape: _Shape) -> Tensor:
    """Other sizes, of as many elements; one may be -1. A view where the strides allow it, else a copy. As torch.reshape."""
def rms_norm(input: Tensor, normalized_shape: _Shape, weight: Tensor | None = None, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """The last dimensions divided by the root of the mean of their squares plus eps (the dtype's own where not given). As
torch.nn.functional.rms_norm."""
def rnn_relu(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: _bool = True, num_layers: _int = 1, dropout: _float = 0, train: _bool = False, bidirectional: _bool = False, batch_first: _bool = False) -> tuple[Tensor, Tensor]:
    """A recurrent network of plain cells with relu over a sequence. As torch.rnn_relu."""
def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """As torch.rnn_relu_cell."""
def rnn_tanh(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: _bool = True, num_layers: _int = 1, dropout: _float = 0, train: _bool = False, bidirectional: _bool = False, batch_first: _bool = False) -> tuple[Tensor, Tensor]:
    """A recurrent network of plain cells with tanh over a sequence. As torch.rnn_tanh."""
def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """As torch.rnn_tanh_cell."""
def roll(input: Tensor, shifts: _Shape, dims: _Shape | None = None) -> Tensor:
    """Elements moved on by `shifts` along `dims`, those past the end coming in at the start; without `dims` along all elements as a vector."""
def rot90(input: Tensor, k: _int = 1, dims: _Shape = (0, 1)) -> Tensor:
    """Turned `k` times by a quarter, from the first of `dims` towards the second."""
@overload
def round(input: Tensor, *, decimals: _int, out: Tensor | None = None) -> Tensor:
    """The nearest whole number, the even one of two. As torch.round."""
@overload
def round(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def round_(input: Tensor) -> Tensor:
    """The nearest whole number, the even one of two. As torch.round."""
def row_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined downwards. As torch.vstack."""
def rrelu(input: Tensor, lower: _float = ..., upper: _float = ..., training: _bool = False) -> Tensor:
    """leaky_relu with slopes drawn from [lower, upper) for each element in training, with their mean else."""
def rrelu_(input: Tensor, lower: _float = ..., upper: _float = ..., training: _bool = False) -> Tensor:
    """leaky_relu with slopes drawn from [lower, upper) for each element in training, with their mean else."""
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / sqrt(input). As torch.rsqrt."""
def rsqrt_(input: Tensor) -> Tensor:
    """1 / sqrt(input). As torch.rsqrt."""
@overload
def rsub(input: Tensor | _Number, other: Tensor | _Number, alpha: _Number, *, out: Tensor | None = None) -> Tensor:
    """other - input. As torch.rsub."""
@overload
def rsub(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor: ...
def rsub_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """other - input. As torch.rsub."""
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: _float = 0, is_causal: _bool = False, *, scale: _float | None = None, enable_gqa: _bool = False, out: Tensor | None = None) -> Tensor:
    """softmax(query keyᵀ * scale) value, of query (…, L, E), key (…, S, E), value (…, S, Ev), to (…, L, Ev). A query that sees no key gives
zeros. As torch.nn.functional.scaled_dot_product_attention."""
@overload
def scatter(input: Tensor, dim: _int, index: Tensor, src: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input with y[index[i][j]][j] = source[i][j] for dim 0, and so on; `reduce` "add" or "multiply" combines it with what is there. As
torch.scatter."""
@overload
def scatter(input: Tensor, dim: _int, index: Tensor, src: Tensor | _Number, *, reduce: _str, out: Tensor | None = None) -> Tensor: ...
def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input with source added at these places. As torch.scatter_add."""
def scatter_reduce(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: _str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """scatter that combines all that comes to a place by "sum", "prod", "mean", "amax" or "amin", with what was there where `include_self`. As
torch.scatter_reduce."""
def searchsorted(sorted_sequence: Tensor, input: Tensor | _Number, *, out_int32: _bool = False, right: _bool = False, side: _str | None = None, sorter: Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """Where in the last dimension of `sorted_sequence` (a vector, or of the same leading sizes) each value would keep the order. As
torch.searchsorted."""
def select(input: Tensor, dim: _int, index: _int) -> Tensor:
    """One element of a dimension, which falls away. As torch.select."""
def selu(input: Tensor) -> Tensor:
    """1.0507 * elu(input, 1.6733). As torch.selu."""
def selu_(input: Tensor) -> Tensor:
    """1.0507 * elu(input, 1.6733). As torch.selu."""
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1. As torch.sgn."""
def sgn_(input: Tensor) -> Tensor:
    """-1, 0 or 1. As torch.sgn."""
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-input)). As torch.sigmoid."""
def sigmoid_(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input)). As torch.sigmoid."""
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1. As torch.sign."""
def sign_(input: Tensor) -> Tensor:
    """-1, 0 or 1. As torch.sign."""
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element has its sign bit set, -0 and -nan too. As torch.signbit."""
def silu(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * sigmoid(input). As torch.silu."""
def silu_(input: Tensor) -> Tensor:
    """input * sigmoid(input). As torch.silu."""
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sine of radians. As torch.sin."""
def sin_(input: Tensor) -> Tensor:
    """The sine of radians. As torch.sin."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(pi input) / (pi input), 1 at 0. As torch.sinc."""
def sinc_(input: Tensor) -> Tensor:
    """sin(pi input) / (pi input), 1 at 0. As torch.sinc."""
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic sine. As torch.sinh."""
def sinh_(input: Tensor) -> Tensor:
    """The hyperbolic sine. As torch.sinh."""
def smooth_l1_loss(input: Tensor, target: Tensor, reduction: _str = 'mean', beta: _float = 1, *, out: Tensor | None = None) -> Tensor:
    """d^2 / (2 beta) for d = |input - target| < beta, else d - beta / 2."""
def soft_margin_loss(input: Tensor, target: Tensor, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """log(1 + exp(-target * input)), targets 1 or -1."""
@overload
def softmax(input: Tensor, dim: _int, dtype: None | None = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input) divided by its sum along `dim`, taken from the maximum so that it cannot overflow.
Shape, dtype and device are input's. Error where `dim` is outside [-input.dim(), input.dim()) or input is not floating. As torch.softmax."""
@overload
def softmax(input: Tensor, dim: _int, dtype: _DType, *, out: Tensor | None = None) -> Tensor: ...
@overload
def softmin(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """softmax(-input)."""
@overload
def softmin(input: Tensor, dim: _int, *, dtype: _DType, out: Tensor | None = None) -> Tensor: ...
def softplus(input: Tensor, beta: _float = 1, threshold: _float = 20, *, out: Tensor | None = None) -> Tensor:
    """log(1 + exp(beta * input)) / beta; input itself where beta * input > threshold."""
def softshrink(input: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """input moved towards 0 by lambd, 0 where |input| <= lambd. Error for a negative lambd."""
def softsign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input / (1 + |input|). As torch.softsign."""
def softsign_(input: Tensor) -> Tensor:
    """input / (1 + |input|). As torch.softsign."""
def sort(input: Tensor, dim: _int = -1, descending: _bool = False, *, stable: Any = None, out: Sequence[Tensor] | None = None) -> _sort:
    """The elements along a dimension in order and where each was. Always stable. As torch.sort."""
@overload
def split(input: Tensor, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
@overload
def split(input: Tensor, split_size: _Shape, dim: _int = 0) -> tuple[Tensor, ...]: ...
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square root. As torch.sqrt."""
def sqrt_(input: Tensor) -> Tensor:
    """The square root. As torch.sqrt."""
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * input. As torch.square."""
def square_(input: Tensor) -> Tensor:
    """input * input. As torch.square."""
@overload
def squeeze(input: Tensor) -> Tensor:
    """Without those of `dim` that have size 1."""
@overload
def squeeze(input: Tensor, dim: _int) -> Tensor: ...
@overload
def squeeze(input: Tensor, dim: _Shape) -> Tensor: ...
def stack(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Joined along a new dimension; all sizes must agree."""
@overload
def sub(input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number, out: Tensor | None = None) -> Tensor:
    """input - other. As torch.sub."""
@overload
def sub(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor: ...
def sub_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input - other. As torch.sub."""
@overload
def subtract(input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number, out: Tensor | None = None) -> Tensor:
    """input - other. As torch.sub."""
@overload
def subtract(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor: ...
def subtract_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input - other. As torch.sub."""
@overload
def sum(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Integers and bools are added up as int64, unless `dtype` says otherwise. As torch.sum."""
@overload
def sum(input: Tensor, *, dtype: _DType, out: Tensor | None = None) -> Tensor: ...
@overload
def sum(input: Tensor, dim: _Shape | None = None, keepdim: _bool = False, *, dtype: _DType | None = None, out: Tensor | None = None) -> Tensor: ...
def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """As transpose."""
def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """As transpose."""
def t(input: Tensor) -> Tensor:
    """A matrix transposed; a vector as it is. As torch.t."""
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Elements of the flattened input, with index's sizes; negative ones count from the end. As torch.take."""
def take_along_dim(input: Tensor, indices: Tensor, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """gather, where input and indices broadcast in the other dimensions and indices may be negative; of the flattened tensors without `dim`. As
torch.take_along_dim."""
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tangent of radians. As torch.tan."""
def tan_(input: Tensor) -> Tensor:
    """The tangent of radians. As torch.tan."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent. As torch.tanh."""
def tanh_(input: Tensor) -> Tensor:
    """The hyperbolic tangent. As torch.tanh."""
def tanhshrink(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input - tanh(input). As torch.tanhshrink."""
def tanhshrink_(input: Tensor) -> Tensor:
    """input - tanh(input). As torch.tanhshrink."""
@overload
def tensor_split(input: Tensor, sections: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, indices: _Shape, dim: _int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, indices_or_sections: Tensor, dim: _int = 0) -> tuple[Tensor, ...]: ...
def threshold(input: Tensor, threshold: _float, value: _float, *, out: Tensor | None = None) -> Tensor:
    """input where input > threshold, else value. Integers too."""
def threshold_(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """input where input > threshold, else value. Integers too."""
def tile(input: Tensor, dims: _Shape) -> Tensor:
    """Copies side by side, so many along each dimension; fewer numbers than dimensions stand for the last ones. As torch.tile."""
def topk(input: Tensor, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *, out: Sequence[Tensor] | None = None) -> _topk:
    """The k largest (smallest) elements along a dimension, in order whether `sorted` or not. As torch.topk."""
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix. As torch.trace."""
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two dimensions change places. As torch.transpose."""
@overload
def trapezoid(y: Tensor, dx: _float = 1, dim: _int = -1) -> Tensor:
    """The integral of y by the trapezoidal rule, with points `dx` apart, or at `x` (of y's sizes, or a vector along `dim`). As
torch.trapezoid, which is torch.trapz too."""
@overload
def trapezoid(y: Tensor, x: Tensor, dim: _int = -1) -> Tensor: ...
@overload
def trapz(y: Tensor, dx: _float = 1, dim: _int = -1) -> Tensor:
    """The integral of y by the trapezoidal rule, with points `dx` apart, or at `x` (of y's sizes, or a vector along `dim`). As
torch.trapezoid, which is torch.trapz too."""
@overload
def trapz(y: Tensor, x: Tensor, dim: _int = -1) -> Tensor: ...
def tril(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The lower (upper) triangle, the rest zero."""
def tril_indices(row: _int, col: _int, offset: _int = 0, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor:
    """Rows and columns, sizes (2, count), of a matrix's elements on and below (above) the diagonal `offset`. int64 or int32."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: _float = 1, p: _float = 2, eps: _float = 1e-06, swap: _bool = False, reduction: _str = 'mean', *, out: Tensor | None = None) -> Tensor:
    """max(0, margin + |anchor - positive| - |anchor - negative|), p-norms along the last dimension; `swap` takes |positive - negative| where
it is less."""
def triu(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle, the rest zero."""
def triu_indices(row: _int, col: _int, offset: _int = 0, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor:
    """Rows and columns, sizes (2, count), of a matrix's elements on and above the diagonal `offset`. As torch.triu_indices."""
def true_divide(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """As div. As torch.true_divide."""
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The whole part. As torch.trunc."""
def trunc_(input: Tensor) -> Tensor:
    """The whole part. As torch.trunc."""
def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """The elements of a dimension, one by one. As torch.unbind."""
def unflatten(input: Tensor, dim: _int, sizes: _Shape) -> Tensor:
    """Dimension `dim` as several, of `sizes`; one of them may be -1."""
def unfold(input: Tensor, kernel_size: _Shape, dilation: _Shape = 1, padding: _Shape = 0, stride: _Shape = 1, *, out: Tensor | None = None) -> Tensor:
    """input (n, c, h, w) or (c, h, w) to (n, c * kernel, windows). As torch.nn.functional.unfold."""
def unique(input: Tensor, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
    """Waits for the device: the size depends on the data. As torch.unique."""
def unique_consecutive(input: Tensor, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
    """One of each run of equal neighbours. Waits for the device. As torch.unique_consecutive."""
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` parts of the same size along a dimension, the last one smaller. As torch.chunk."""
def unsqueeze(input: Tensor, dim: _int) -> Tensor:
    """With a new dimension of size 1 at `dim`. As torch.unsqueeze."""
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of products of two vectors; dot of real numbers."""
@overload
def vsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]: ...
@overload
def vsplit(input: Tensor, indices: _Shape) -> tuple[Tensor, ...]: ...
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined downwards. As torch.vstack."""
@overload
def where(condition: Tensor, input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The first where condition is true, else the second; of a condition alone its places, a vector a dimension. As torch.where."""
@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
def xlogy(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input * log(other), 0 where input is 0. As torch.xlogy."""
def xlogy_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """input * log(other), 0 where input is 0. As torch.xlogy."""
@overload
def zeros(size: _Shape, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor:
    """All elements 0. As torch.zeros."""
@overload
def zeros(*size: _int, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None, out: Tensor | None = None) -> Tensor: ...
def zeros_like(input: Tensor, *, dtype: _DType | None = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False, layout: Any = None, memory_format: Any = None) -> Tensor:
    """All 0, otherwise as empty_like."""
