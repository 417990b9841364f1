"""Graphs of calls: made step by step or by tracing, changed, checked, and written as code."""

import builtins
import contextlib
import copy
import keyword
import re

from tandem.fx._code import PythonCode, python_code
from tandem.fx.node import OPCODES, Node, map_arg

__all__ = ["Graph", "PythonCode"]

_TAKEN = {*keyword.kwlist, *dir(builtins), "inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree", "self"}


class _Names:
    """Names for nodes, each given once."""

    def __init__(self):
        self.used = set()
        self.counts = {}

    def create(self, wanted):
        """The wanted name as an identifier, with a number where it is taken."""
        name = re.sub(r"[^0-9a-zA-Z_]+", "_", wanted) or "_unnamed"
        if name[0].isdigit():
            name = f"_{name}"
        match = re.fullmatch(r"(.*)_(\d+)", name)
        base, number = (match[1], int(match[2])) if match else (name, None)
        if not number:
            number = self.counts.get(base, 0)
        while name in self.used or name in _TAKEN:
            number += 1
            name = f"{base}_{number}"
        self.used.add(name)
        self.counts[base] = number
        return name


def _wanted_name(op, target):
    """What a node would be called by what it does."""
    name = target if isinstance(target, str) else getattr(target, "__name__", type(target).__name__)
    if op == "placeholder":
        return name.lstrip("*") if not name.startswith("*") else "_" + name.lstrip("*")
    if len(name) > 4 and name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


class _Nodes:
    """The nodes of a graph in their order; reversed() goes from the last one."""

    def __init__(self, graph, backward=False):
        self.graph, self.backward = graph, backward

    def __iter__(self):
        root = self.graph._root
        node = root._prev if self.backward else root._next
        while node is not root:
            if not node._erased:
                yield node
            node = node._prev if self.backward else node._next

    def __len__(self):
        return self.graph._length

    def __reversed__(self):
        return _Nodes(self.graph, not self.backward)


class Graph:
    """Calls in the order in which they are made, from placeholders to output."""

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._names = _Names()
        self._length = 0
        self._root = Node(self, "", "call_function", _root, (), {})
        self._insert = self._root.prepend

    @property
    def nodes(self):
        """The nodes in their order."""
        return _Nodes(self)

    # --- New nodes
    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """A node at the place where nodes are added."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError("args must be a tuple and kwargs a dict")
        made = Node(self, self._names.create(name or _wanted_name(op, target)), op, target, args, kwargs, type_expr)
        self._insert(made)
        self._length += 1
        return made

    def placeholder(self, name, type_expr=None, default_value=...):
        """A parameter of the graph."""
        return self.create_node("placeholder", name, () if default_value is ... else (default_value,), type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """A tensor or other value of the module, by its dotted name."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """A call of a part of the module, by its dotted name."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result, type_expr=None):
        """What the graph gives."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda node: node):
        """A copy of a node of another graph; arg_transform(node) gives the node of this one that stands for an argument."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copies the nodes of the graph g into this one, but for those that val_map has already; gives what g's output is here."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda one: val_map[one])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda one: val_map[one])
        return None

    # --- Places and changes
    @contextlib.contextmanager
    def _inserting(self, insert):
        before, self._insert = self._insert, insert
        try:
            yield
        finally:
            self._insert = before

    def inserting_before(self, n=None):
        """with graph.inserting_before(node): nodes are added before it; without one, at the beginning."""
        return self.inserting_after(self._root) if n is None else self._inserting(self._of_this(n).prepend)

    def inserting_after(self, n=None):
        """with graph.inserting_after(node): each new node is put right after it; without one, at the end."""
        return self.inserting_before(self._root) if n is None else self._inserting(self._of_this(n).append)

    def _of_this(self, node):
        if node.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return node

    def erase_node(self, to_erase):
        """Takes a node out that nobody uses."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            import warnings

            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        if self._insert == to_erase.prepend:
            self._insert = to_erase._next.prepend
        elif self._insert == to_erase.append:
            self._insert = to_erase._prev.append
        to_erase._set((), {})
        to_erase._unlink()
        to_erase._erased = True
        self._length -= 1

    def eliminate_dead_code(self, is_impure_node=None):
        """Takes out the nodes that nobody uses; gives whether there were any."""
        self.lint()
        found = False
        for node in reversed(self.nodes):
            impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
            if not node.users and not impure:
                self.erase_node(node)
                found = True
        return found

    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes that do `op` with `target`."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def output_node(self):
        """The node that gives the result."""
        last = next(iter(reversed(self.nodes)))
        if last.op != "output":
            raise AssertionError(f"Expected output node, got {last.op}")
        return last

    def on_generate_code(self, make_transformer):
        raise NotImplementedError("Graph.on_generate_code: change the graph's nodes, or the text that python_code gives")

    # --- Checks and text
    def lint(self):
        """Checks that nodes stand after what they use, names differ, and modules and attributes exist. RuntimeError where they don't."""
        seen, names = set(), set()
        for node in self.nodes:
            if node.op not in OPCODES:
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for one in node._inputs:
                if one.graph is not self:
                    raise RuntimeError(f"Argument '{one}' of Node '{node}' does not belong to this Graph, but was used as an argument! "
                                       "If you are copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to "
                                       f"remap values\n{self}")
                if one not in seen:
                    raise RuntimeError(f"Argument '{one}' of Node '{node}' was used before it has been defined! Please check that Nodes in "
                                       f"the graph are topologically ordered\n{self}")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)
            if self.owning_module is not None and node.op in ("call_module", "get_attr"):
                self._lint_target(node)

    def _lint_target(self, node):
        value = self.owning_module
        for part in node.target.split("."):
            if not hasattr(value, part):
                raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part} of "
                                   f"{type(value).__name__}")
            value = getattr(value, part)
        if node.op == "call_module" and not callable(value):
            raise RuntimeError(f"Node {node} target {node.target} does not reference a Module")

    def python_code(self, root_module, **options):
        """The graph as the text of a function forward, with the globals that it needs; root_module is the name of its module in it."""
        return python_code(self, root_module)

    def print_tabular(self):
        """Prints a table with a row for each node."""
        rows = [[node.op, node.name, str(node.target), str(node.args), str(node.kwargs)] for node in self.nodes]
        head = ["opcode", "name", "target", "args", "kwargs"]
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(5)]
        lines = [head, ["-" * width for width in widths], *rows]
        print("\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in lines))

    def __str__(self):
        lines = [f"    {node.format_node()}" for node in self.nodes]
        return "\n".join(["graph():", *lines])

    def __deepcopy__(self, memo=None):
        made = Graph(tracer_cls=self._tracer_cls)
        for node, copied in _copied(self, made).items():
            copied.meta = copy.copy(node.meta)
        return made


def _copied(graph, into):
    """Copies all nodes, the output too; gives the copies by the nodes."""
    values = {}
    for node in graph.nodes:
        values[node] = into.node_copy(node, lambda one: values[one])
    return values


def _root():
    """What the node between a graph's last and first one would call."""
