"""Parameters that are functions of other ones: `module.weight` is computed from an original whenever it is read."""

import copy
from contextlib import contextmanager

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.nn.modules.container import ModuleDict, ModuleList
from tandem.nn.modules.module import Module
from tandem.nn.parameter import Parameter

_cache_enabled = 0
_cache = {}


@contextmanager
def cached():
    """Within the block each parametrized tensor is computed once."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register_parameter_or_buffer(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _set(destination, source):
    """Gives a tensor the memory of another one."""
    if destination is not source:
        destination.data = source.detach()


class ParametrizationList(ModuleList):
    """The functions that one tensor goes through, and the original, or several originals, that it is computed from."""

    def __init__(self, modules, original, unsafe=False):
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype, value = original.shape, original.dtype, original
        with no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    try:
                        value = module.right_inverse(value)
                    except NotImplementedError:
                        pass
        if not isinstance(value, _C.Tensor) and not isinstance(value, (list, tuple)):
            raise ValueError(
                f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(value).__name__}"
            )
        self.is_tensor = isinstance(value, _C.Tensor)
        self.ntensors = 1 if self.is_tensor else len(value)
        if self.is_tensor:
            if dtype != value.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {dtype}\nright_inverse(original).dtype: {value.dtype}"
                )
            with no_grad():
                _set(original, value)
            _register_parameter_or_buffer(self, "original", original)
        else:
            for i, part in enumerate(value):
                if not isinstance(part, _C.Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                        f"Got element {i} of the sequence with type {type(part).__name__}."
                    )
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                part.requires_grad_(original.requires_grad)
                _register_parameter_or_buffer(self, f"original{i}", part)
        if not unsafe:
            result = self()
            if not isinstance(result, _C.Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
            if result.dtype != dtype:
                raise ValueError(
                    "Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled.\n"
                    f"unparametrized dtype: {dtype}\nparametrized dtype: {result.dtype}"
                )
            if result.shape != shape:
                raise ValueError(
                    "Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled.\n"
                    f"unparametrized shape: {shape}\nparametrized shape: {result.shape}"
                )

    def _originals(self):
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value):
        """Sets the originals so that the tensor becomes `value`."""
        with no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, _C.Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                value = [value]
            elif len(value) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length {len(value)}."
                )
            for original, part in zip(self._originals(), value):
                if part.dtype != original.dtype:
                    raise ValueError(
                        f"Tensor returned by `right_inverse` has dtype {part.dtype} while `original` has dtype {original.dtype}"
                    )
                _set(original, part)

    def forward(self):
        value = self[0](*self._originals())
        for i in range(1, len(self)):
            value = self[i](value)
        return value


def _inject_new_class(module):
    """Gives the module a class of its own, which can carry properties."""
    cls = type(module)

    def __deepcopy__(self, memo):
        known = memo.get(id(self))
        if known is not None:
            return known
        replica = self.__new__(type(self))
        memo[id(self)] = replica
        replica.__setstate__(copy.deepcopy(Module.__getstate__(self), memo))
        return replica

    def __getstate__(self):
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    body = {"__getstate__": __getstate__}
    if not hasattr(cls, "__deepcopy__"):
        body["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)


def _inject_property(module, tensor_name):
    """Makes reading `tensor_name` compute it."""

    def read(self):
        if not _cache_enabled:
            return self.parametrizations[tensor_name]()
        key = id(module), tensor_name
        tensor = _cache.get(key)
        if tensor is None:
            tensor = _cache[key] = self.parametrizations[tensor_name]()
        return tensor

    def write(self, value):
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(read, write))


def is_parametrized(module, tensor_name=None):
    """Whether the module has parametrizations, or one of `tensor_name`."""
    parametrizations = getattr(module, "parametrizations", None)
    if parametrizations is None or not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """From now on `tensor_name` is what the parametrization makes of it; several are applied in turn.

    A `right_inverse` of the parametrization sets first values, and is called where the tensor is assigned to."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    return module


def _append(module, tensor_name, parametrization, unsafe):
    """One more parametrization after those there are."""
    parametrizations = module.parametrizations[tensor_name]
    if not unsafe:
        value = getattr(module, tensor_name)
        result = parametrization(value)
        if not isinstance(result, _C.Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        if result.dtype != value.dtype:
            raise ValueError(
                "Registering a parametrization may not change the dtype of the tensor, unless the `unsafe` flag is enabled.\n"
                f"module.{tensor_name}.dtype: {value.dtype}\nparametrization(module.{tensor_name}).dtype: {result.dtype}"
            )
        if result.shape != value.shape:
            raise ValueError(
                "Registering a parametrization may not change the shape of the tensor, unless the `unsafe` flag is enabled.\n"
                f"module.{tensor_name}.shape: {value.shape}\nparametrization(module.{tensor_name}).shape: {result.shape}"
            )
    parametrizations.append(parametrization)
    parametrizations.unsafe |= unsafe


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Takes the parametrizations of a tensor off; it keeps its value, or gets its original's where leave_parametrized is false."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                _set(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The module's class without its parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Puts the parametrizations of one module, with their originals, on another one."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for parametrization in from_module.parametrizations[name]:
            register_parametrization(to_module, name, parametrization)
        source, target = from_module.parametrizations[name], to_module.parametrizations[name]
        if source.is_tensor:
            target.original = source.original
        else:
            for i in range(source.ntensors):
                setattr(target, f"original{i}", getattr(source, f"original{i}"))
    return to_module
