"""Lets classes with __torch_function__ answer for functions, as torch.overrides.

tandem's operations ask the classes of arguments that they do not take: those of objects that are no tensors.
"""

import functools

from tandem import _C

__all__ = [
    "get_ignored_functions", "get_overridable_functions", "get_testing_overrides", "handle_torch_function", "has_torch_function",
    "resolve_name", "is_tensor_like", "is_tensor_method_or_property", "wrap_torch_function",
]

# Functions that take no tensor and could never ask one.
_WITHOUT_TENSORS = (
    "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "can_cast", "empty", "eye", "finfo", "from_dlpack",
    "from_numpy", "frombuffer", "full", "get_default_dtype", "get_num_threads", "get_rng_state", "hamming_window", "hann_window",
    "iinfo", "initial_seed", "is_storage", "is_tensor", "kaiser_window", "linspace", "load", "logspace", "manual_seed", "ones",
    "promote_types", "rand", "randint", "randn", "randperm", "range", "save", "scalar_tensor", "seed", "set_default_device",
    "set_default_dtype", "set_num_threads", "set_printoptions", "set_rng_state", "sparse_coo_tensor", "tensor", "tril_indices",
    "triu_indices", "vander", "zeros",
)
_PLACES = ("torch", "torch.Tensor", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft", "torch.functional")


def _asks(value):
    """Whether the value's class has a __torch_function__ of its own."""
    return hasattr(type(value), "__torch_function__") or isinstance(value, type) and hasattr(value, "__torch_function__")


def has_torch_function(relevant_args):
    """Whether the class of one of the arguments has __torch_function__."""
    return any(map(_asks, relevant_args))


def has_torch_function_unary(relevant_arg):
    """has_torch_function of one argument."""
    return _asks(relevant_arg)


def has_torch_function_variadic(*relevant_args):
    """has_torch_function of all its arguments."""
    return has_torch_function(relevant_args)


def _in_order(relevant_args):
    """One argument for each class that has __torch_function__, a class before those that it is made from."""
    found = []
    for value in relevant_args:
        if not _asks(value) or any(type(value) is type(other) for other in found):
            continue
        at = next((i for i, other in enumerate(found) if isinstance(value, type(other))), len(found))
        found.insert(at, value)
    return found


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """What the first of the arguments' classes gives that answers for `public_api(*args, **kwargs)`. TypeError where none does."""
    asked = _in_order(relevant_args)
    types = tuple(map(type, asked))
    for value in asked:
        result = value.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}")


def wrap_torch_function(dispatcher):
    """Decorates a function: dispatcher(*args, **kwargs) gives the arguments whose classes are asked first."""

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp):
    """Whether it is a tensor, or its class has __torch_function__."""
    return isinstance(inp, _C.Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func):
    """Whether it is a method of Tensor, or what reads a property."""
    return func in _names()["methods"] or getattr(func, "__name__", None) == "__get__"


@functools.cache
def _names():
    """Names of functions by the functions; and the set of Tensor's methods."""
    import importlib

    names, methods = {}, set()
    for place in _PLACES:
        owner = _C.Tensor if place == "torch.Tensor" else importlib.import_module(place.replace("torch", "tandem", 1))
        for name in dir(owner):
            value = getattr(owner, name, None)
            if not callable(value) or isinstance(value, type) or getattr(type(value), "__hash__", None) is None:
                continue
            names.setdefault(value, f"{place}.{name}")
            if owner is _C.Tensor:
                methods.add(value)
    return {"functions": names, "methods": methods}


def resolve_name(f):
    """The name that PyTorch has for a function or method, such as torch.Tensor.add; None for others."""
    return _names()["functions"].get(f)


def get_ignored_functions():
    """Functions that have no tensors among their arguments."""
    import tandem

    return {getattr(tandem, name) for name in _WITHOUT_TENSORS if hasattr(tandem, name)}


def get_overridable_functions():
    """Nothing: no function of tandem's asks the classes of tensors for __torch_function__."""
    return {}


def get_testing_overrides():
    """Nothing: no function of tandem's asks the classes of tensors for __torch_function__."""
    return {}


class TorchFunctionMode:
    """PyTorch's class of modes, to be named and derived from. It cannot be entered: no function of tandem's would call it."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        raise NotImplementedError(f"{type(self).__name__}: tandem's functions call no __torch_function__ for tensors, so a mode would see none of them")

    def __exit__(self, *error):
        pass


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls each function as it is."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
