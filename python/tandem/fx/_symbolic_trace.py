"""Tracing: a module or function is called with proxies, and what it does is recorded in a graph."""

import builtins
import inspect
import math
import sys
import types
import warnings

from tandem import _C
from tandem.fx._functions import Patches, _assert, namespaces, recorder, recorders
from tandem.fx.graph import Graph
from tandem.fx.graph_module import GraphModule
from tandem.fx.proxy import TracerBase
from tandem.nn import Module, Parameter, Sequential

__all__ = ["PH", "ProxyableClassMeta", "Tracer", "symbolic_trace", "wrap"]

wrapped = {}  # names that wrap() was given, with the globals they are in
WRAPPED = "__wrapped_functions__"  # in the globals of a GraphModule's forward: the names that its code wrapped


class PHBase:
    """The value of a concrete argument that is a placeholder after all."""

    def __repr__(self):
        return "PH"


PH = PHBase()


class ProxyableClassMeta(type):
    """The class of a class whose instances can be made while tracing: the call that makes one is recorded."""

    def __call__(cls, *args, **kwargs):
        from tandem.fx._functions import proxy_in

        proxy = proxy_in((args, kwargs))
        return super().__call__(*args, **kwargs) if proxy is None else proxy.tracer.create_proxy("call_function", cls, args, kwargs)


def wrap(fn_or_name):
    """Calls of this function, or of the function of this name in the calling module, are recorded as they are. A decorator too."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    wrapped[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


class Tracer(TracerBase):
    """Records what a module does. Classes below it may say what is a leaf, and what becomes of calls, arguments and decisions."""

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        self._autowrap_modules = tuple(autowrap_modules)
        self._autowrap_functions = tuple(autowrap_functions)
        self.root = None
        self.graph = None
        self._attributes = {}
        self._constants = 0

    def is_leaf_module(self, m, module_qualified_name):
        """Whether a call of the module is one node. Those of nn are, but for Sequential; others are traced through."""
        return m.__module__.startswith(("tandem.nn", "torch.nn", "torch.ao.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod):
        """The module's dotted name below the root. NameError where it has none."""
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        """What a call of a module gives: a node for a leaf, and forward(*args, **kwargs) for others."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def create_arg(self, a):
        """As TracerBase; tensors and modules of the root become attributes of it, other tensors constants."""
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if parameter is a:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, _C.Tensor):
            name = self._attributes.get(id(a))
            if name is None:
                name = self._constant(a)
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    def _constant(self, tensor):
        while hasattr(self.root, f"_tensor_constant{self._constants}"):
            self._constants += 1
        name = f"_tensor_constant{self._constants}"
        self._attributes[id(tensor)] = name
        setattr(self.root, name, tensor)
        return name

    def trace(self, root, concrete_args=None):
        """The graph of a module or function. concrete_args: values of arguments, by their names, that are no placeholders."""
        is_module = isinstance(root, Module)
        if is_module and not hasattr(type(root), self.traced_func_name):
            raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
        self.root = root if is_module else Module()
        function = getattr(type(root), self.traced_func_name) if is_module else root
        self.graph = Graph(tracer_cls=type(self))
        self._attributes = _tensors_of(self.root)
        function, args, returned = self._arguments(function, is_module, concrete_args)
        with Patches() as patches:
            self._patch(patches, getattr(inspect.unwrap(function), "__globals__", {}))
            result = function(*args)
            self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=returned)
        return self.graph

    traced_func_name = "forward"

    def _patch(self, patches, own_globals):
        """Puts recorders in the places of tandem's functions, of math's, of wrapped ones, and of the call of modules."""
        called = Module.__call__

        def call(module, *args, **kwargs):
            return self.call_module(module, lambda *args, **kwargs: called(module, *args, **kwargs), args, kwargs)

        patches.put(Module, "__call__", call)
        found = recorders()
        for namespace in namespaces():
            patches.functions_in(namespace, found)
        for module in self.root.modules():
            forward = inspect.unwrap(type(module).forward)
            if not type(module).__module__.startswith("tandem.nn") and hasattr(forward, "__globals__"):
                patches.functions_in(forward.__globals__, found)
        patches.functions_in(own_globals, found)
        for module in self._autowrap_modules:
            for name, value in list(vars(module).items()):
                if callable(value) and not name.startswith("_") and not isinstance(value, type):
                    patches.put(vars(module), name, recorder(value, is_wrapped=True))
        for function in self._autowrap_functions:
            for name, value in list(own_globals.items()):
                if value is function:
                    patches.put(own_globals, name, recorder(function, is_wrapped=True))
        own = [own_globals, *(getattr(inspect.unwrap(type(module).forward), "__globals__", {}) for module in self.root.modules())]
        named = wrapped | {(id(where), name): where for where in own for name in where.get(WRAPPED, ())}
        for (_, name), where in named.items():
            value = where.get(name, getattr(builtins, name, None))
            if callable(value):
                patches.put(where, name, recorder(value, is_wrapped=True))

    def _arguments(self, function, is_module, concrete_args):
        """The function as it is called, the proxies of its parameters, and the type that it says to return."""
        plain = inspect.unwrap(function)
        if not hasattr(plain, "__code__"):
            raise TypeError(f"{function} has no code in Python that could be traced")
        code, parameters = plain.__code__, inspect.signature(plain).parameters
        count = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames[:count])
        if is_module and not names:
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        args = [self.root] if is_module else []
        made = 0
        for name in names[1:] if is_module else names:
            parameter = parameters[name]
            default = () if parameter.default is parameter.empty else (parameter.default,)
            kind = None if parameter.annotation is parameter.empty else parameter.annotation
            if concrete_args is not None and name in concrete_args:
                made += 1
                args.append(self._concrete(f"{name}_{made}", name, default, concrete_args[name]))
            else:
                args.append(self.create_proxy("placeholder", name, default, {}, type_expr=kind))
        spread = [kind for kind, flag in (("*", inspect.CO_VARARGS), ("**", inspect.CO_VARKEYWORDS)) if code.co_flags & flag]
        for stars, name in zip(spread, code.co_varnames[count:]):
            args.append(self.create_proxy("placeholder", stars + name, (), {}))
        if spread or code.co_kwonlyargcount:  # all of them by position: *args is one proxy
            flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
            code = code.replace(co_argcount=count + len(spread), co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
            return types.FunctionType(code, plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__), args, None
        returned = getattr(plain, "__annotations__", {}).get("return")
        return function, args, returned if isinstance(returned, type) else None

    def _concrete(self, placed, name, default, value):
        """A parameter with a value that is known: the graph checks that it is given that."""
        proxy = self.create_proxy("placeholder", placed, default, {})
        if isinstance(value, PHBase):
            return proxy
        if value is None:
            text = f"{name} has been specialized to have value None but got another value"
            self.create_proxy("call_function", _assert_is_none, (proxy, text), {})
        elif isinstance(value, (bool, int, float, str)):
            text = f"{name} has been specialized to have value {value} but got another value"
            self.create_proxy("call_function", _assert, (proxy == value, text), {})
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to the user to make sure "
                "that your inputs match the inputs you specialized the function with.",
                stacklevel=2,
            )
        return value


def _assert_is_none(value, msg):
    assert value is None, msg


def _tensors_of(root):
    """The dotted names of the tensors below a module that are no parameters, by their ids."""
    found = {}
    for prefix, module in root.named_modules():
        for name, value in [*vars(module).items(), *module._buffers.items()]:
            if isinstance(value, _C.Tensor) and not isinstance(value, Parameter):
                found[id(value)] = f"{prefix}.{name}" if prefix else name
    return found


def symbolic_trace(root, concrete_args=None):
    """A GraphModule that does what the module or function does, as a graph that can be looked at and changed."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    return GraphModule(tracer.root, graph, type(root).__name__ if isinstance(root, Module) else root.__name__)
