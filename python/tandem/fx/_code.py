"""Graphs as the text of a function."""

import builtins
import operator
from collections import namedtuple

from tandem import _C
from tandem._formats import layout, memory_format
from tandem.fx.node import Node, container_text, map_arg, qualified_name, type_text

PythonCode = namedtuple("PythonCode", ["src", "globals"])
PythonCode.__doc__ = "The text of a function forward, and the globals that it runs with."

# Functions that code shows as operators.
_BETWEEN = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.floordiv: "//", operator.truediv: "/", operator.mod: "%",
    operator.pow: "**", operator.matmul: "@", operator.lshift: "<<", operator.rshift: ">>", operator.and_: "&", operator.or_: "|",
    operator.xor: "^", operator.lt: "<", operator.le: "<=", operator.eq: "==", operator.ne: "!=", operator.gt: ">", operator.ge: ">=",
}  # fmt: skip
_BEFORE = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}


def base_globals():
    """What the text of every graph may name."""
    import tandem

    return {"inf": float("inf"), "nan": float("nan"), "NoneType": type(None), "torch": tandem, "device": _C.device}


class _Writer:
    """The lines of one graph, and the globals that they name."""

    def __init__(self, root):
        self.root = root
        self.globals = base_globals()
        self.wrapped = []

    def global_name(self, value):
        """The name that code has for a function or class."""
        name = qualified_name(value) if not isinstance(value, type) else type_text(value)
        if name.startswith("torch."):
            return name
        name = "_" * name.startswith("operator.") + name.removeprefix("builtins.").replace(".", "_").replace("<", "_").replace(">", "_")
        wanted, number = name, 0
        while self.globals.setdefault(name, value) is not value:
            number += 1
            name = f"{wanted}_{number}"
        return name

    def value(self, value):
        """An argument."""
        if isinstance(value, Node):
            return value.name
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self.global_name(type(value))}({', '.join(map(self.value, value))})"
        if (text := container_text(value, self.value)) is not None:
            return text
        if isinstance(value, slice):
            return f"slice({self.value(value.start)}, {self.value(value.stop)}, {self.value(value.step)})"
        if isinstance(value, (_C.dtype, memory_format, layout)):
            return f"torch.{repr(value).rpartition('.')[2]}"
        if isinstance(value, type) or callable(value):
            return self.global_name(value)
        return repr(value)

    def arguments(self, args, kwargs):
        return ", ".join([*map(self.value, args), *(f"{key} = {self.value(one)}" for key, one in kwargs.items())])

    def target(self, base, dotted):
        """An attribute by its dotted name; parts that are no identifiers by getattr."""
        for part in dotted.split("."):
            base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
        return base

    def expression(self, node):
        """What a node computes."""
        if node.op == "get_attr":
            return self.target(self.root, node.target)
        if node.op == "call_module":
            return f"{self.target(self.root, node.target)}({self.arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            return f"{self.target(self.operand(node.args[0]), node.target)}({self.arguments(node.args[1:], node.kwargs)})"
        function, args = node.target, node.args
        if function in _BETWEEN and len(args) == 2 and not node.kwargs:
            return f"{self.operand(args[0])} {_BETWEEN[function]} {self.operand(args[1])}"
        if function in _BEFORE and len(args) == 1 and not node.kwargs:
            return f"{_BEFORE[function]}{self.operand(args[0])}"
        if function is operator.getitem and len(args) == 2:
            return f"{self.operand(args[0])}[{self.value(args[1])}]"
        if function is builtins.getattr and len(args) == 2 and isinstance(args[1], str) and args[1].isidentifier():
            return f"{self.operand(args[0])}.{args[1]}"
        name = self.global_name(function)
        if node.meta.get("is_wrapped") and name not in self.wrapped:
            self.wrapped.append(name)
        return f"{name}({self.arguments(args, node.kwargs)})"

    def operand(self, value):
        """An argument beside an operator: numbers below zero stand in brackets."""
        text = self.value(value)
        return f"({text})" if not isinstance(value, Node) and text.startswith("-") else text


def last_uses(graph):
    """For each node, those of its arguments that no later node uses."""
    seen, last = set(), {}
    for node in reversed(graph.nodes):
        found = last.setdefault(node, [])

        def used(one, found=found):
            if one not in seen:
                seen.add(one)
                found.append(one)
            return one

        map_arg(node.args, used)
        map_arg(node.kwargs, used)
    return last


def python_code(graph, root):
    """The graph as a function forward of its module, which the text calls `root`. Values are let go after their last use."""
    writer, last, parameters, lines, returned = _Writer(root), last_uses(graph), [], [], ""
    for node in graph.nodes:
        annotation = f" : {type_text(node.type)}" if node.type else ""
        if node.type and not type_text(node.type).startswith("torch."):
            annotation = f" : {writer.global_name(node.type)}" if isinstance(node.type, type) else ""
        if node.op == "placeholder":
            default = f" = {writer.value(node.args[0])}" if node.args else ""
            parameters.append(f"{node.target}{annotation}{default}")
            if node.target.lstrip("*") != node.name:
                lines.append(f"{node.name} = {node.target.lstrip('*')}")
            continue
        if node.op == "output":
            returned = annotation.replace(" : ", " -> ")
            lines.append(f"return {writer.value(node.args[0])}")
            continue
        unused = [] if node.users else [node]
        gone = " = ".join([one.name for one in last[node] + unused] + ["None"])
        lines.append(f"{node.name}{annotation} = {writer.expression(node)}" + (f";  {gone}" if gone != "None" else ""))
    body = "".join(f"    {line}\n" for line in lines or ["pass"])
    wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped)
    return PythonCode(f"\n{wraps}\n\ndef forward({', '.join([root, *parameters])}){returned}:\n{body}    ", writer.globals)
