"""GraphModule: a module whose forward is written from a graph."""

import contextlib
import copy
import itertools
import linecache

from tandem import _C
from tandem.fx.graph import Graph
from tandem.nn import Module, Parameter

__all__ = ["GraphModule"]

_numbers = itertools.count()


def _forward(code):
    """The function that a graph's code defines; tracebacks show its lines."""
    name = f"<eval_with_key>.{next(_numbers)}"
    linecache.cache[name] = (len(code.src), None, code.src.splitlines(keepends=True), name)
    scope = dict(code.globals)
    exec(compile(code.src, name, "exec"), scope)
    _keep_wrapped(scope)
    return scope["forward"]


def _keep_wrapped(scope):
    """Notes in the globals of a forward which functions its code wrapped, so that what wrap() knows does not keep them for good."""
    from tandem.fx._symbolic_trace import WRAPPED, wrapped  # which imports this module

    names = [name for where, name in wrapped if where == id(scope)]
    for name in names:
        del wrapped[id(scope), name]
    scope[WRAPPED] = names


def _parent_of(module, target, make=False):
    """The module that holds the attribute of this dotted name, and the attribute's own name."""
    *path, name = target.split(".")
    for part in path:
        if make and not hasattr(module, part):
            setattr(module, part, Module())
        module = getattr(module, part)
    return module, name


def _assign(module, target, value):
    """Puts a value below a module, by its dotted name: a tensor that is no parameter as a buffer."""
    parent, name = _parent_of(module, target, make=True)
    if isinstance(value, _C.Tensor) and not isinstance(value, Parameter):
        parent.register_buffer(name, value)
    else:
        setattr(parent, name, value)


def _copy_attribute(source, module, target):
    """Puts an attribute of one module into another one under the same dotted name, with empty modules on the way."""
    *path, name = target.split(".")
    for part in path:
        below = getattr(source, part)
        if getattr(module, part, None) is below:
            return  # the whole of it is there already
        if not hasattr(module, part):
            setattr(module, part, Module())
        source, module = below, getattr(module, part)
    _assign(module, name, getattr(source, name))


class GraphModule(Module):
    """A module made from a graph: GraphModule(root, graph), root being a module or a dict that has what the graph names.

    After changes of `graph`, recompile() writes `forward` anew; `code` is its text.
    """

    def __new__(cls, *args, **kwargs):
        base = next(one for one in cls.__mro__ if not vars(one).get("_of_one_module"))
        return super().__new__(type("GraphModuleImpl", (base,), {"_of_one_module": True, "__module__": base.__module__}))

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        type(self).__name__ = class_name
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = root.training
            for target in targets:
                _copy_attribute(root, self, target)
        elif isinstance(root, dict):
            for target in targets:
                if target not in root:
                    raise RuntimeError(
                        f"Node {next(node for node in graph.nodes if node.target == target)} referenced target {target} but that target was "
                        "not provided in ``root``!"
                    )
            for target in sorted(targets, key=lambda one: one.count(".")):
                _assign(self, target, root[target])
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.meta = {}
        self.graph = graph

    @property
    def graph(self):
        """Its graph. Another one is written as code at once."""
        return self._graph

    @graph.setter
    def graph(self, graph):
        if not isinstance(graph, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(graph)}")
        self.__dict__["_graph"] = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The text of forward."""
        return self._code

    def recompile(self):
        """Writes forward from the graph as it is now."""
        code = self._graph.python_code("self")
        self.__dict__["_code"] = code.src
        type(self).forward = _forward(code)
        return code

    def add_submodule(self, target, m):
        """Puts a module below this one, by its dotted name; gives whether that could be."""
        *path, name = target.split(".")
        module = self
        for part in path:
            if not hasattr(module, part):
                setattr(module, part, Module())
            module = getattr(module, part)
            if not isinstance(module, Module):
                return False
        module.add_module(name, m)
        return True

    def delete_submodule(self, target):
        """Takes a module away, by its dotted name; gives whether it was there."""
        with contextlib.suppress(AttributeError):
            parent, name = _parent_of(self, target)
            if isinstance(getattr(parent, name), Module):
                delattr(parent, name)
                return True
        return False

    def delete_all_unused_submodules(self):
        """Takes away the modules that the graph does not use."""
        used = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
                if node.op == "call_module":
                    used.update(f"{node.target}.{name}" for name, _ in self.get_submodule(node.target).named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False, **others):
        """Its code as a class; prints and gives it."""
        body = "\n".join(f"    {line}" if line.strip() else "" for line in self._code.strip("\n").splitlines())
        text = f"class {type(self).__name__}(torch.nn.Module):\n{body.rstrip()}\n"
        if print_output:
            print(text)
        return text

    def __str__(self):
        return f"{super().__str__()}\n{self._code}\n# To see more debug info, please use `graph_module.print_readable()`"

    def _state(self):
        state = self.__getstate__()
        return {name: value for name, value in state.items() if name not in ("_graph", "_code")}

    def __deepcopy__(self, memo):
        made = GraphModule.__new__(type(self))
        memo[id(self)] = made
        type(made).__name__ = type(self).__name__
        made.__setstate__(copy.deepcopy(self._state(), memo))
        made.graph = copy.deepcopy(self._graph)
        return made

    def __copy__(self):
        made = GraphModule(self, copy.deepcopy(self._graph), type(self).__name__)
        made.meta = getattr(self, "meta", {})
        return made

    def __reduce__(self):
        code = self._graph.python_code("self")
        names = set(type(self).forward.__code__.co_names)
        kept = {name: value for name, value in code.globals.items() if name in names and name not in ("torch", "device", "inf", "nan")}
        return _read, (type(self).__name__, self._state(), code.src, kept)


def _read(name, state, text, names):
    """What a pickled GraphModule is read by: its code is traced again, all modules being leaves."""
    from tandem.fx._symbolic_trace import Tracer
    from tandem.fx._code import PythonCode, base_globals

    class Whole(Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    root = type(name, (Module,), {"forward": _forward(PythonCode(text, base_globals() | names))})()
    root.__setstate__(state)
    return GraphModule(root, Whole().trace(root), name)
