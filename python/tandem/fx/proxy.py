"""Stand-ins for values while a program is traced: what is done with them is recorded in a graph."""

import dis
import operator
import sys

from tandem import _C
from tandem.fx._functions import proxy_in
from tandem.fx.node import BASE_TYPES, Node

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase"]


class TraceError(ValueError):
    """The program asked a proxy for a value, which only running it would give."""


class TracerBase:
    """What tracers share: nodes and proxies for them, and what the arguments of a call are in a graph."""

    graph: object
    record_stack_traces = False
    trace_asserts = False
    proxy_buffer_attributes = False

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """A node of the graph."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node):
        """The stand-in for what a node gives."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """A node with these arguments, which may be proxies, and its stand-in."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a):
        """A value as a graph holds it: nodes for proxies. NotImplementedError for what a graph cannot hold."""
        if isinstance(a, (tuple, list, dict, slice)):
            if isinstance(a, dict) and any(isinstance(key, Node) or proxy_in(key) is not None for key in a):
                raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {list(a)}")
            return _through(a, self.create_arg)
        if isinstance(a, range):
            return range(*map(self.create_arg, (a.start, a.stop, a.step)))
        if isinstance(a, Proxy):
            return a.node
        if a is None or a is ... or isinstance(a, (*BASE_TYPES, Node)) or callable(a) or type(a).__module__.startswith(("tandem", "torch")):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj):
        """Called where a program asks whether a proxy is true."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """Called where a program goes over a proxy: a, b = proxy is recorded, as it says how many there are."""
        frame = sys._getframe(2)
        instruction = next((one for one in dis.get_instructions(frame.f_code) if one.offset == frame.f_lasti), None)
        if instruction is not None and instruction.opname == "UNPACK_SEQUENCE":
            return (obj[i] for i in range(instruction.argval))
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs function "
            "argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control flow can be traced, "
            "and check out the Proxy docstring for help troubleshooting Proxy iteration errors"
        )

    def keys(self, obj):
        """Called where a program asks for a proxy's keys, as **proxy does."""
        return Attribute(obj, "keys")()


def _through(value, fn):
    """The container with fn(each part) in it."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(fn, value))
    if isinstance(value, (tuple, list)):
        return type(value)(map(fn, value)) if type(value) in (tuple, list) else tuple(map(fn, value))
    if isinstance(value, dict):
        return {key: fn(one) for key, one in value.items()}
    return slice(fn(value.start), fn(value.stop), fn(value.step))


class GraphAppendingTracer(TracerBase):
    """Records into a graph that is there already."""

    def __init__(self, graph):
        self.graph = graph


class Proxy:
    """Stands for what a node gives. Calls, operators and attributes of it are recorded as new nodes; asking for its value is an error."""

    def __init__(self, node, tracer=None):
        self.node = node
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, name):
        if name in ("node", "tracer"):  # while it is made by copying
            raise AttributeError(name)
        return Attribute(self, name)

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        return iter(self.tracer.iter(self))

    def __bool__(self):
        return self.tracer.to_bool(self)

    def __len__(self):
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call torch.fx.wrap('len') at "
            "module scope"
        )

    def keys(self):
        """As **proxy asks for them."""
        return self.tracer.keys(self)

    __hash__ = object.__hash__

    @classmethod
    def __torch_function__(cls, orig_method, types, args=(), kwargs=None):
        """Records a call of one of tandem's functions or methods."""
        kwargs = kwargs or {}
        tracer = proxy_in((args, kwargs)).tracer
        if getattr(_C.Tensor, getattr(orig_method, "__name__", ""), None) is orig_method:
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs)


class Attribute(Proxy):
    """An attribute of a proxy, recorded when it is used, and a method when it is called."""

    def __init__(self, root, attr):
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node = None

    @property
    def node(self):
        """The node that reads the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _operator(function, swapped=False):
    if swapped:
        return lambda self, other: self.tracer.create_proxy("call_function", function, (other, self), {})
    return lambda self, *args: self.tracer.create_proxy("call_function", function, (self, *args), {})


for _name in ("add sub mul floordiv truediv mod pow matmul lshift rshift and_ or_ xor").split():
    _plain = _name.rstrip("_")
    setattr(Proxy, f"__{_plain}__", _operator(getattr(operator, _name)))
    setattr(Proxy, f"__r{_plain}__", _operator(getattr(operator, _name), swapped=True))
for _name in "lt le eq ne gt ge neg pos invert abs getitem".split():
    setattr(Proxy, f"__{_name}__", _operator(getattr(operator, _name)))
del _name, _plain
