"""Tensors that a module trains (Parameter) or keeps beside them (Buffer), and those whose size the first input decides."""

from collections import OrderedDict

from tandem import _C
from tandem._arguments import type_name

_UNINITIALIZED = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying to load "
    "an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before accessing their attributes."
)


class _KindMeta(type(_C.Tensor)):
    """Lets a tensor that carries the class's mark count as an instance."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (isinstance(instance, _C.Tensor) and getattr(instance, cls._mark, False))


class Parameter(_C.Tensor):
    """A tensor that becomes a parameter of the module it is assigned to. It shares memory with `data`."""

    def __new__(cls, data=None, requires_grad=True):
        if data is not None and not hasattr(data, "detach"):
            raise AttributeError(f"'{type_name(data)}' object has no attribute 'detach': a Parameter is made of a tensor")
        return _C.Tensor._make_subclass(cls, _C.empty(0) if data is None else data, requires_grad)

    def __init__(self, *args, **kwargs):
        pass

    def __deepcopy__(self, memo):
        copy = memo.get(id(self))
        if copy is None:
            copy = memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return copy

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol):
        arguments = (self.detach(), self.requires_grad, OrderedDict())
        attributes = getattr(self, "__dict__", None)
        if not attributes:
            return _rebuild_parameter, arguments
        return _rebuild_parameter_with_state, (*arguments, dict(attributes))


def _rebuild_parameter(data, requires_grad, backward_hooks):
    """What a pickled parameter is made by."""
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    """What a pickled parameter with attributes of its own is made by."""
    parameter = Parameter(data, requires_grad)
    parameter.__dict__.update(state)
    return parameter


class _UninitializedTensor:
    """What parameters and buffers without a size have in common: `materialize` gives them one, and their final class."""

    def materialize(self, shape, device=None, dtype=None):
        """Makes room for `shape` on `device` (else this tensor's) and takes the class of an ordinary parameter or buffer."""
        device = self.data.device if device is None else device
        dtype = self.data.dtype if dtype is None else dtype
        self.data = _C.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(_UNINITIALIZED)

    def size(self, dim=None):
        raise RuntimeError(_UNINITIALIZED)

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before calling "
            "`module.share_memory()`."
        )

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, self.data.device, self.data.dtype)


def is_lazy(tensor):
    """Whether the tensor is a parameter or buffer that has no size yet."""
    return isinstance(tensor, _UninitializedTensor)


class UninitializedParameter(_UninitializedTensor, Parameter):
    """A parameter whose size is not known before the first input."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _C.Tensor._make_subclass(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo):
        copy = memo.get(id(self))
        if copy is None:
            copy = memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return copy


class Buffer(_C.Tensor, metaclass=_KindMeta):
    """Makes a tensor that becomes a buffer of the module it is assigned to: state, saved unless `persistent` is false."""

    _mark = "_is_buffer"

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = _C.empty(0)
        buffer = data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


class _SizedBuffer(_C.Tensor):
    """What an uninitialized buffer becomes: a plain tensor in all but its class, which cannot change to that of C++."""


class UninitializedBuffer(_UninitializedTensor, _C.Tensor):
    """A buffer whose size is not known before the first input."""

    cls_to_become = _SizedBuffer

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        buffer = _C.Tensor._make_subclass(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer

    def __init__(self, *args, **kwargs):
        pass

    def __deepcopy__(self, memo):
        copy = memo.get(id(self))
        if copy is None:
            copy = memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype, self.persistent)
        return copy
