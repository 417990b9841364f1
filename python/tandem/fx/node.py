"""A step of a graph: what is called, with which arguments, and who uses the result."""

import builtins
import types

from tandem import _C

__all__ = ["Node", "has_side_effect", "map_arg", "map_aggregate"]

BASE_TYPES = (str, int, float, bool, complex, _C.dtype, _C.Tensor, _C.device)
OPCODES = ("placeholder", "get_attr", "call_module", "call_method", "call_function", "output")


_with_effects = set()


def has_side_effect(fn):
    """Notes that a function does more than give a result, so that a call of it stays where nobody uses that. A decorator too."""
    _with_effects.add(fn)
    return fn


def map_aggregate(a, fn):
    """The value with fn(leaf) in the place of each leaf of its tuples, lists, dicts and slices."""
    if isinstance(a, tuple):
        made = tuple(map_aggregate(one, fn) for one in a)
        return made if not hasattr(a, "_fields") else type(a)(*made)
    if isinstance(a, list):
        return [map_aggregate(one, fn) for one in a]
    if isinstance(a, dict):
        return {key: map_aggregate(one, fn) for key, one in a.items()}
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a, fn):
    """The value with fn(node) in the place of each node."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda one: fn(one) if isinstance(one, Node) else one)


def type_text(kind):
    """A type as code and tables show it."""
    if not isinstance(kind, type):
        return repr(kind)
    if kind is _C.Tensor:
        return "torch.Tensor"
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def qualified_name(function):
    """The name by which code calls a function: torch.relu, operator.add, a module and a name for all others."""
    from tandem.fx._functions import name_of

    found = name_of(function)
    if found is not None:
        return found
    if getattr(builtins, getattr(function, "__name__", ""), None) is function:
        return f"builtins.{function.__name__}"
    name = getattr(function, "__name__", type(function).__name__)
    if name == "<lambda>":
        name = "_lambda"
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or (owner.__name__ if isinstance(owner, types.ModuleType) else "builtins")
    return f"{module.replace('_operator', 'operator')}.{name}"


class Node:
    """A step of a Graph, which makes it. `op` is one of placeholder, get_attr, call_module, call_method, call_function and output.

    `target` is the name of an argument, attribute, module or method, or the function. `args` and `kwargs` hold numbers, text, tensors
    and other nodes; `users` are the nodes that use this one.
    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in OPCODES:
            raise AssertionError(f"{op} is not one of {', '.join(OPCODES)}")
        if op == "call_function" and not callable(target):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a Callable is expected"
            )
        if op != "call_function" and not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a str is expected")
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.users = {}
        self.meta = {}
        self._inputs = {}
        self._args, self._kwargs = (), {}
        self._prev = self._next = self
        self._erased = False
        self._set(args, kwargs)

    def _set(self, args, kwargs):
        """Takes other arguments: the nodes among them learn who uses them."""
        for node in self._inputs:
            node.users.pop(self, None)
        self._inputs = {}
        self._args, self._kwargs = map_aggregate(tuple(args), self._seen), map_aggregate(dict(kwargs), self._seen)

    def _seen(self, one):
        if isinstance(one, Node):
            self._inputs.setdefault(one)
            one.users.setdefault(self)
        return one

    @property
    def args(self):
        """The positional arguments."""
        return self._args

    @args.setter
    def args(self, args):
        self._set(args, self._kwargs)

    @property
    def kwargs(self):
        """The named arguments."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs):
        self._set(self._args, kwargs)

    @property
    def next(self):
        """The node after it."""
        return self._next

    @property
    def prev(self):
        """The node before it."""
        return self._prev

    @property
    def all_input_nodes(self):
        """The nodes among its arguments, each once."""
        return list(self._inputs)

    @property
    def stack_trace(self):
        """Where in the program it was recorded; None where nothing was kept."""
        return self.meta.get("stack_trace")

    def update_arg(self, idx, arg):
        """Another positional argument in the place `idx`."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """One more positional argument, before the one in the place `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key, arg):
        """Another named argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def prepend(self, x):
        """Moves the node x before this one."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._unlink()
        x._prev, x._next = self._prev, self
        self._prev._next = x
        self._prev = x

    def append(self, x):
        """Moves the node x after this one."""
        self._next.prepend(x)

    def _unlink(self):
        self._prev._next, self._next._prev = self._next, self._prev

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        """Puts `replace_with` in this node's place in all that use it, where delete_user_cb(user) says so; gives those."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has .meta keys")
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def replace_input_with(self, old_input, new_input):
        """Puts new_input in the place of old_input in its arguments."""
        self._set(*(map_arg(a, lambda node: new_input if node is old_input else node) for a in (self.args, self.kwargs)))

    def is_impure(self, impure_random=True):
        """Whether it does something besides giving a result, so that it stays where nobody uses that."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return getattr(self.target, "__name__", "") == "_assert" or self.target in _with_effects
        return self.op == "call_method" and self.target.endswith("_") and not self.target.endswith("__")

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False):
        """The node as a line of its graph's text; None for placeholders and output where their names are collected."""
        typename = f" : {type_text(self.type)}" if self.type else ""
        head = f"%{self.name}{typename or ' :'} [num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            default = f"(default={_text(self.args[0])})" if self.args else ""
            return f"{head}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}[target={self.target}]"
        if self.op == "output":
            return f"return {_plain(self.args[0])}"
        target = self.target if isinstance(self.target, str) else qualified_name(self.target)
        named = ", ".join(f"{key}: {_text(value)}" for key, value in self.kwargs.items())
        return f"{head}[target={target}](args = {_text(self.args)}, kwargs = {{{named}}})"

    def __repr__(self):
        return self.name

    def __lt__(self, other):
        nodes = list(self.graph.nodes)
        return nodes.index(self) < nodes.index(other)

    def __gt__(self, other):
        return other < self


def container_text(value, one, key=repr):
    """A tuple, list or dict as Python writes it, its values by one(value) and its keys by key(key); None of what is no container."""
    if isinstance(value, tuple):
        return f"({', '.join(map(one, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(one, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key(name)}: {one(item)}" for name, item in value.items()) + "}"
    return None


def _dtype_text(dtype):
    return f"torch.{repr(dtype).rpartition('.')[2]}"


def _text(value):
    """An argument with its nodes as %name, and text without quotes."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, _C.dtype):
        return _dtype_text(value)
    text = container_text(value, _text, str)
    return str(value) if text is None else text


def _plain(value):
    """A result with its nodes by their names, as Python writes its containers."""
    if isinstance(value, _C.dtype):
        return _dtype_text(value)
    text = container_text(value, _plain)
    return repr(value) if text is None else text
