"""The base class of every model and layer: registration of its parts, calls with hooks, and walks over what it holds."""

import inspect
import itertools
from collections import OrderedDict
from typing import Any

from tandem import _C
from tandem.nn import hooks as _hooks
from tandem.nn.hooks import (  # noqa: F401 (torch.nn.modules.module has these names)
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from tandem.nn.modules._module_hooks import ModuleHooks
from tandem.nn.modules._moving import Moving
from tandem.nn.modules._registry import Registry
from tandem.nn.modules._state import State, _EXTRA_STATE_KEY_SUFFIX, _IncompatibleKeys  # noqa: F401
from tandem.nn.modules.utils import typename
from tandem.nn.parameter import Buffer, Parameter

_KINDS = ("_parameters", "_buffers", "_modules")
_HOOKS = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)

_global_forward_pre_hooks = _hooks.global_forward_pre_hooks
_global_forward_hooks = _hooks.global_forward_hooks
_global_backward_pre_hooks = _hooks.global_backward_pre_hooks
_global_backward_hooks = _hooks.global_backward_hooks


def _forward_unimplemented(self, *input):
    """Computes the module's output; every module defines its own."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


def _collect(module, memo, prefix, remove_duplicate, found):
    """Adds the module and all below it, with their dotted names, to `found`."""
    if module in memo:
        return
    if remove_duplicate:
        memo.add(module)
    found.append((prefix, module))
    for name, child in module._modules.items():
        if child is not None:
            child_prefix = f"{prefix}.{name}" if prefix else name
            if type(child).named_modules is Module.named_modules:
                _collect(child, memo, child_prefix, remove_duplicate, found)
            else:
                found.extend(child.named_modules(memo, child_prefix, remove_duplicate))


class Module(ModuleHooks, State, Moving):
    """A part of a network: parameters, buffers, other modules, and a `forward` that computes with them.

    Parameters, buffers and children stand in `_parameters`, `_buffers` and `_modules`, and also in `__dict__`, so that reading them costs
    no more than reading any attribute."""

    dump_patches = False
    _version = 1
    training: bool
    call_super_init = False
    _compiled_call_impl = None

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            if kwargs:
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        attributes = self.__dict__
        attributes["training"] = True
        for kind in _KINDS:
            attributes[kind] = Registry(self)
        attributes["_non_persistent_buffers_set"] = set()
        attributes["_is_full_backward_hook"] = None
        for name in _HOOKS:
            attributes[name] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward = _forward_unimplemented

    def __call__(self, *args, **kwargs) -> Any:
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        if not (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _global_forward_hooks
            or _global_forward_pre_hooks
            or _global_backward_hooks
            or _global_backward_pre_hooks
        ):
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def _call_impl(self, *args, **kwargs):
        """A call past what `compile` made."""
        return self._call_with_hooks(args, kwargs)

    _wrapped_call_impl = __call__

    def compile(self, *args, **kwargs):
        """Calls of this module go through `tandem.compile` from now on."""
        self.__dict__["_compiled_call_impl"] = _C.Compiled(self, self._call_impl)

    # --- Registration
    def register_parameter(self, name, param):
        """Adds a parameter, which is then an attribute too. None stands for one that is left out, as a layer's bias may be."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To express "
                    f"'{name}' as a function of another Tensor, compute the value in the forward() method."
                )
        self._enter("parameter", self._parameters, name, param)

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a buffer: a tensor that moves with the module and, if persistent, stands in its state_dict, and is no parameter."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, _C.Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._enter("buffer", self._buffers, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Adds a child, which is then an attribute too."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {typename(name)}")
        self._check_name("module", name, self._modules)
        self._enter("module", self._modules, name, module)

    def register_module(self, name, module):
        """The same as add_module."""
        self.add_module(name, module)

    def _check_name(self, kind, name, entries):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if name not in entries and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    def _enter(self, kind, entries, name, value):
        for hook in _hooks.global_registration_hooks[kind].values():
            result = hook(self, name, value)
            if result is not None:
                value = result
        entries[name] = value
        self.__dict__[name] = value

    # --- Attributes
    def __getattr__(self, name):
        attributes = self.__dict__
        for kind in _KINDS:
            entries = attributes.get(kind)
            if entries is not None and name in entries:
                return entries[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __setattr__(self, name, value):
        attributes = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in attributes:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._leave(name, keep="_parameters")
            self.register_parameter(name, value)
            return
        if name in attributes.get("_parameters", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, None)
            return
        if isinstance(value, Module):
            if "_modules" not in attributes:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._leave(name, keep="_modules")
            self._enter("module", self._modules, name, value)
            return
        if name in attributes.get("_modules", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)")
            self._enter("module", self._modules, name, None)
            return
        if name in attributes.get("_buffers", ()):
            if value is not None and not isinstance(value, _C.Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
                )
            if isinstance(value, Buffer):
                self.register_buffer(name, value, value.persistent)
            else:
                self._enter("buffer", self._buffers, name, value)
            return
        if isinstance(value, Buffer):
            if "_buffers" not in attributes:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            self._leave(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)
            return
        if name in _KINDS:
            for former in attributes.get(name, ()):
                attributes.pop(former, None)
            attributes[name] = Registry(self, value)
            return
        super().__setattr__(name, value)

    def _leave(self, name, keep):
        """Takes the name from wherever it stands, except from `keep`."""
        if name in self.__dict__[keep]:
            return
        self.__dict__.pop(name, None)
        for kind in _KINDS:
            self.__dict__[kind].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name):
        for kind in _KINDS:
            entries = self.__dict__.get(kind, ())
            if name in entries:
                del entries[name]
                self.__dict__.pop(name, None)
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self):
        names = set(super().__dir__())
        return sorted(name for name in names if not name[0].isdigit())

    def __getstate__(self):
        state = self.__dict__.copy()
        for kind in _KINDS:
            state[kind] = entries = dict(state[kind])
            for name in entries:
                state.pop(name, None)
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state):
        attributes = self.__dict__
        attributes.update(state)
        for kind in _KINDS:
            attributes[kind] = Registry(self, attributes.get(kind, ()))
        attributes.setdefault("_non_persistent_buffers_set", set())
        attributes.setdefault("_is_full_backward_hook", None)
        for name in _HOOKS:
            if name not in attributes:
                attributes[name] = OrderedDict()

    # --- Parts by name
    def get_submodule(self, target):
        """The module of a dotted name such as "layers.0"; the module itself for an empty one."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        """Puts a module in the place of a dotted name; with `strict` only where there is one already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target):
        """The parameter of a dotted name such as "layers.0.weight"."""
        return self._get_tensor(target, "an nn.Parameter", lambda module, name: isinstance(getattr(module, name), Parameter))

    def get_buffer(self, target):
        """The buffer of a dotted name."""
        return self._get_tensor(target, "a buffer", lambda module, name: name in module._buffers)

    def _get_tensor(self, target, kind, accepts):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if not accepts(module, name):
            raise AttributeError(f"`{name}` is not {kind}")
        return getattr(module, name)

    # --- Walks
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """This module and all below it with their dotted names, each once unless `remove_duplicate` is false."""
        found = []
        _collect(self, set() if memo is None else memo, prefix, remove_duplicate, found)
        return iter(found)

    def modules(self, remove_duplicate=True):
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self):
        """The modules right below this one with their names, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        """The modules right below this one."""
        for _, module in self.named_children():
            yield module

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        seen, members = set(), []
        for module_prefix, module in modules:
            for name, tensor in get_members_fn(module):
                if tensor is None or id(tensor) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(tensor))
                members.append((f"{module_prefix}.{name}" if module_prefix else name, tensor))
        return iter(members)

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """The parameters with their dotted names, in the order of registration."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """The parameters, each once, in the order of registration."""
        return iter([parameter for _, parameter in self.named_parameters(recurse=recurse)])

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """The buffers with their dotted names."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """The buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def apply(self, fn):
        """Calls fn with every module below this one, and then with it."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # --- Modes
    def train(self, mode=True):
        """Sets training mode, which dropout and batch normalization ask for, here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.__dict__["training"] = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Sets evaluation mode here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Sets for all parameters whether gradients are recorded."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Takes the gradients of all parameters away, or fills them with zeros."""
        if self.__dict__.get("_is_replica"):
            import warnings

            warnings.warn(
                "Calling .zero_grad() from a module created with nn.DataParallel() has no effect. The parameters are copied (in a "
                "differentiable manner) from the original module. This means they are not leaf nodes in autograd and so don't accumulate "
                "gradients. If you need gradients in your forward method, consider using autograd.grad instead.",
                stacklevel=2,
            )
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad = parameter.grad.detach().zero_()

    def _replicate_for_data_parallel(self):
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers = dict(self._buffers)
        replica._modules = dict(self._modules)
        replica._is_replica = True
        return replica

    # --- Text
    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What a module's text says of its own settings."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        lines = list(itertools.chain(extra_lines, child_lines))
        name = self._get_name()
        if not lines:
            return f"{name}()"
        if len(extra_lines) == 1 and not child_lines:
            return f"{name}({extra_lines[0]})"
        return f"{name}(\n  " + "\n  ".join(lines) + "\n)"


for _part in (ModuleHooks, State, Moving):  # errors about the arguments of their methods name Module
    for _name, _value in vars(_part).items():
        if inspect.isfunction(_value):
            _value.__qualname__ = f"Module.{_name}"
del _part, _name, _value
