"""Signatures as the pages of the reference show them: of stubs, and of what is written in Python."""

import ast
import inspect
import pathlib
import re
from html import escape

PACKAGE = pathlib.Path(__file__).parent.parent / "tandem"
# The stubs' own names for types: _int is there because Tensor has a method int.
PRIVATE = re.compile(r"\b_(int|bool|float|str|bytes|dtype|device|Number|Shape|DType|Device)\b")


class Stubs:
    """The functions and classes of the extension, by name."""

    def __init__(self):
        self.names = {"tandem._C": self.read("_C"), "tandem.linalg": self.read("linalg")}

    @staticmethod
    def read(module):
        names = {}
        for node in ast.parse((PACKAGE / f"{module}.pyi").read_text()).body:
            if isinstance(node, ast.ClassDef):
                names[node.name] = node
            elif isinstance(node, ast.FunctionDef):
                names.setdefault(node.name, []).append(node)
        return names

    def of(self, module, name, value):
        """The stub of a class or function of the extension; None of anything else."""
        if inspect.isfunction(value):
            return None
        place = self.names["tandem.linalg" if module == "tandem.linalg" else "tandem._C"]
        if isinstance(value, type):
            found = place.get(value.__name__)
            return found if isinstance(found, ast.ClassDef) and value.__module__ in ("tandem", "tandem._C") else None
        found = place.get(name) or place.get(getattr(value, "__name__", name))
        return found if isinstance(found, list) else None


STUBS = Stubs()


def type_text(annotation):
    """A type by the name that the pages explain; a named tuple by its fields."""
    if annotation is None:
        return ""
    fields = next(
        (names[annotation.id] for names in STUBS.names.values() if isinstance(annotation, ast.Name) and annotation.id in names), None
    )
    if isinstance(fields, ast.ClassDef) and annotation.id.startswith("_"):
        return f"({', '.join(field.target.id for field in fields.body)})"
    return PRIVATE.sub(r"\1", ast.unparse(annotation))


def parameter(name, kind="", default=None):
    """One parameter as HTML."""
    text = f'<span class="py-parameter">{escape(name)}</span>'
    if kind:
        text += f': <span class="py-type">{escape(kind)}</span>'
    return text + (f"{' = ' if kind else '='}{escape(default)}" if default is not None else "")


def head(name, parameters, returns=""):
    arrow = f' → <span class="py-type">{escape(returns)}</span>' if returns and returns != "None" else ""
    return f"<b>{name}</b>({', '.join(parameters)}){arrow}"


def plain(name, kind=None):
    """A name without parameters: an attribute, a constant, a class that nobody makes."""
    return f"<b>{name}</b>" + (f': <span class="py-type">{escape(type_text(kind))}</span>' if kind is not None else "")


def of_stub(name, nodes, bound=False):
    """The signatures of a function's stubs; without the first parameter where it is a method."""
    return [one_of_stub(name, node.args, type_text(node.returns), bound) for node in nodes]


def one_of_stub(name, arguments, returns, bound):
    placed = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(placed) - len(arguments.defaults)) + arguments.defaults
    parts = []
    for i, (argument, default) in enumerate(zip(placed, defaults)):
        if not (bound and i == 0):
            parts.append(parameter(argument.arg, type_text(argument.annotation), written(default)))
        if arguments.posonlyargs and i == len(arguments.posonlyargs) - 1 and parts:
            parts.append("/")
    if arguments.vararg:
        parts.append(parameter("*" + arguments.vararg.arg, type_text(arguments.vararg.annotation)))
    elif arguments.kwonlyargs:
        parts.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        parts.append(parameter(argument.arg, type_text(argument.annotation), written(default)))
    if arguments.kwarg:
        parts.append(parameter("**" + arguments.kwarg.arg, type_text(arguments.kwarg.annotation)))
    return head(name, parts, returns)


def written(default):
    """A default as Python writes it; the three points of a stub are one that only the function knows."""
    return None if default is None else "…" if isinstance(default, ast.Constant) and default.value is ... else ast.unparse(default)


def of_object(name, value, bound=False):
    """The signature of what is written in Python; of what is not, that which its doc begins with, or only the name."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        first = (inspect.getdoc(value) or "").split("\n")[0]
        return [f"<b>{name}</b>{escape(first.removeprefix(name))}" if is_signature(first) else f"<b>{name}</b>(…)"]
    parts, keywords = [], False
    parameters = list(signature.parameters.values())
    for i, given in enumerate(parameters[1:] if bound else parameters):
        if given.kind is given.KEYWORD_ONLY and not keywords:
            parts, keywords = [*parts, "*"], True
        keywords = keywords or given.kind is given.VAR_POSITIONAL
        stars = {given.VAR_POSITIONAL: "*", given.VAR_KEYWORD: "**"}.get(given.kind, "")
        parts.append(parameter(stars + given.name, annotated(given.annotation), shown(given.default)))
        following = parameters[i + 1 + bound] if i + 1 + bound < len(parameters) else None
        if given.kind is given.POSITIONAL_ONLY and (following is None or following.kind is not given.POSITIONAL_ONLY):
            parts.append("/")
    return [head(name, parts, "" if isinstance(value, type) else annotated(signature.return_annotation))]


def is_signature(line):
    """Whether a doc's line is a call, as those of the extension's functions begin."""
    return re.fullmatch(r"\w+\(.*\)(?: -> .*)?", line) is not None


def annotated(annotation):
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def shown(default):
    """A default; "…" for an object that has no short form."""
    if default is inspect.Parameter.empty:
        return None
    text = getattr(default, "__name__", repr(default)) if callable(default) else repr(default)
    return text if len(text) < 40 and "object at 0x" not in text else "…"
