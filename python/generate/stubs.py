#!/usr/bin/env python3
"""Type stubs of the package: stubs.py writes _C.pyi, __init__.pyi, linalg.pyi and those of GATHERING into python/tandem/

The operations come from api.json and names.toml as bindings.py reads them, the rest of tandem._C from by_hand.pyi, and what is written
in Python from the text of its modules. It needs nothing but Python. --check exits with 1 where a stub is stale.
"""

import ast
import json
import keyword
import pathlib
import sys
import tomllib

import bindings
import words

FOLDER = pathlib.Path(__file__).parent
PACKAGE = FOLDER.parent / "tandem"
HEAD = "# Written by python/generate/stubs.py.\n"
CHECKS = '# mypy: disable-error-code="overload-overlap, overload-cannot-match"\n'

# The type of a parameter of each kind.
TYPES = {
    "Tensor": "Tensor",
    "Operand": "Tensor | _Number",
    "Int": "_int",
    "Bool": "_bool",
    "Double": "_float",
    "Scalar": "_Number",
    "Shape": "_Shape",
    "Padding": "_Shape | _str",
    "Sizes": "_int | None | Sequence[_int | None]",
    "Text": "_str",
    "DType": "_DType",
    "Device": "_Device",
    "Reduction": "_str",
    "Tensors": "Sequence[Tensor]",
    "Doubles": "Sequence[_float]",
    "Generator": "Generator",
    "Any": "Any",
    "None": "None",
}
RETURNS = {
    "Tensor": "Tensor",
    "const Tensor &": "Tensor",
    "const Tensor&": "Tensor",
    "std::vector<Tensor>": "tuple[Tensor, ...]",
    "void": "None",
    "bool": "_bool",
    "int64_t": "_int",
    "size_t": "_int",
    "int": "_int",
    "uint32_t": "_int",
    "Shape": "Size",
    "const Shape&": "Size",
    "Unique": "Any",
    "MultiHeadAttentionResult": "tuple[Tensor, ...]",
}
IN_PLACE = ("add", "and", "floordiv", "lshift", "mod", "mul", "or", "pow", "rshift", "sub", "truediv", "xor")
OPERATORS = (*IN_PLACE, "matmul")

# Packages whose __init__.py gathers names from its parts: type checkers take such a name for private unless a stub says that it is not.
# And the names of theirs that are imported when they are asked for.
GATHERING = {
    "nn": {"parallel": "tandem.nn", "DataParallel": "tandem.nn.parallel"},
    "nn.functional": {},
    "nn.parallel": {},
    "nn.utils": {},
    "distributed.optim": {},
}

# What functions written in Python give, where it is not a tensor.
GIVES = {
    "__array_namespace__": "Any",
    "is_tensor": "_bool",
    "is_storage": "_bool",
    "is_floating_point": "_bool",
    "is_complex": "_bool",
    "is_nonzero": "_bool",
    "is_inference": "_bool",
    "is_neg": "_bool",
    "is_conj": "_bool",
    "is_distributed": "_bool",
    "is_signed": "_bool",
    "is_same_size": "_bool",
    "set_flush_denormal": "_bool",
    "typename": "_str",
    "numel": "_int",
    "get_device": "_int",
    "sym_int": "_int",
    "result_type": "_dtype",
    "broadcast_shapes": "Size",
    "meshgrid": "tuple[Tensor, ...]",
    "broadcast_tensors": "tuple[Tensor, ...]",
    "split": "tuple[Tensor, ...]",
    "split_with_sizes": "tuple[Tensor, ...]",
    "unravel_index": "tuple[Tensor, ...]",
    "gradient": "tuple[Tensor, ...]",
    "nonzero": "Any",
    "slogdet": "Any",
    "svd": "Any",
    "histogram": "Any",
    "atleast_1d": "Any",
    "atleast_2d": "Any",
    "atleast_3d": "Any",
    "complex": "Any",
    "view_as_real": "Any",
    "to_dlpack": "Any",
    "cond": "Any",
    "while_loop": "tuple[Any, ...]",
    "unsafe_chunk": "tuple[Tensor, ...]",
    "unsafe_split": "tuple[Tensor, ...]",
}
# What their parameters take, by name; the others take anything.
TAKES = {
    "input": "Tensor",
    "tensor": "Tensor",
    "other": "Tensor | _Number",
    "out": "Tensor | None",
    "dtype": "_DType | None",
    "device": "_Device | None",
    "requires_grad": "_bool",
    "pin_memory": "_bool",
    "keepdim": "_bool",
    "periodic": "_bool",
    "accumulate": "_bool",
    "weight": "Tensor | None",
    "values": "Tensor | _Number",
}


# --- Operations


def text_type(slot):
    kind = TYPES[slot.kind]
    return f"{kind} | None" if slot.optional and slot.default in (None, "None") and not kind.startswith("Any") else kind


def parameter(slot, with_default):
    name = slot.name + "_" if keyword.iskeyword(slot.name) else slot.name
    return f"{name}: {text_type(slot)}{f' = {default_of(slot)}' if with_default else ''}"


def default_of(slot):
    """Its default, where Python can write it."""
    try:
        return repr(ast.literal_eval(slot.default or "None"))
    except (ValueError, SyntaxError):
        return "..."


def parameters(form, spread):
    """The parameters of a form; spread: the first one given one by one."""
    slots = form.slots[1:] if form.method else form.slots
    by_place = [slot for slot in slots if not slot.keyword_only]
    by_name = [parameter(slot, slot.optional) for slot in slots if slot.keyword_only]
    first = ["self"] if form.method else []
    if spread:
        at = next(i for i, slot in enumerate(by_place) if slot.kind == "Shape")
        return ", ".join(
            [
                *first,
                *(parameter(slot, False) for slot in by_place[:at]),
                f"*{by_place[at].name}: _int",
                *(parameter(slot, True) for slot in by_place[at + 1 :]),
                *by_name,
            ]
        )
    last_required = max((i for i, slot in enumerate(by_place) if not slot.optional), default=-1)
    placed = [parameter(slot, i > last_required) for i, slot in enumerate(by_place)]
    return ", ".join([*first, *placed, *(["*"] if by_name else []), *by_name])


def result(form, results):
    """The type of what a form gives; `results` collects the named tuples."""
    returns, name = form.function["returns"], form.function["name"]
    if form.method and name.endswith("_") and returns.startswith("const Tensor"):
        return "Self"
    if returns in bindings.NAMED:
        kind = "_" + form.names["results"].get(name, ("linalg_" if form.function.get("namespace") == "tandem::linalg" else "") + name)
        results[kind] = bindings.NAMED[returns]
        return kind
    if returns in RETURNS:
        return RETURNS[returns]
    return f"tuple[{', '.join(['Tensor'] * len(bindings.TUPLES[returns]))}]"


def quoted(text, indent):
    """A doc string."""
    text = text.replace("\\", "\\\\").replace('"""', "'''").strip()
    text = text + " " if text.endswith('"') else text
    return f'{indent}"""{text}"""'


def definitions(name, forms, results, indent=""):
    """The overloads of a name, each signature once. The first one has the doc string."""
    spread = name in forms[0].names["spread"]["methods" if forms[0].method else "functions"]
    signatures = []
    for form in forms:
        for one_by_one in (False, True) if spread else (False,):
            signature = f"({parameters(form, one_by_one)}) -> {result(form, results)}:"
            if signature not in signatures:
                signatures.append(signature)
    doc = words.docs(forms[-1].function["doc"] or forms[0].function["doc"], forms)
    lines = []
    for i, signature in enumerate(signatures):
        if len(signatures) > 1:
            lines.append(f"{indent}@overload")
        ends = i > 0 or not doc
        lines.append(f"{indent}def {name}{signature}{' ...' if ends else ''}")
        if not ends:
            lines.append(quoted(doc, indent + "    "))
    return lines


def operators():
    """The operators of Tensor."""
    lines = []
    for name in OPERATORS:
        lines += [
            f"    def __{name}__(self, other: Tensor | _Number, /) -> Tensor: ...",
            f"    def __r{name}__(self, other: Tensor | _Number, /) -> Tensor: ...",
        ]
    lines += [f"    def __i{name}__(self, other: Tensor | _Number, /) -> Self: ..." for name in IN_PLACE]
    lines += [f"    def __{name}__(self, other: Tensor | _Number, /) -> Tensor: ..." for name in ("lt", "le", "gt", "ge")]
    lines += [f"    def __{name}__(self) -> Tensor: ..." for name in ("neg", "pos", "abs", "invert")]
    lines += [f"    def __{name}__(self, other: Tensor | _Number, /) -> tuple[Tensor, Tensor]: ..." for name in ("divmod", "rdivmod")]
    return lines


# --- What is written in Python


def tree_of(module):
    return ast.parse((PACKAGE / f"{module}.py").read_text())


def value_of(tree, name):
    """The expression of a variable of a module's."""
    return next(node.value for node in tree.body if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name)


def written(node, name=None, method=False):
    """The stub of a function, with another name where one is given."""
    arguments, defaults = node.args, node.args.defaults
    by_place = arguments.posonlyargs + arguments.args
    texts = []
    for i, argument in enumerate(by_place):
        if method and i == 0:
            texts.append("self")
            continue
        at = i - (len(by_place) - len(defaults))
        texts.append(written_parameter(argument.arg, defaults[at] if at >= 0 else None))
    if arguments.vararg:
        texts.append(f"*{arguments.vararg.arg}: Any")
    elif arguments.kwonlyargs:
        texts.append("*")
    texts += [written_parameter(argument.arg, default) for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        texts.append(f"**{arguments.kwarg.arg}: Any")
    indent, name = "    " if method else "", name or node.name
    gives = "Self" if method and name.endswith("_") and not name.endswith("__") else GIVES.get(name, "Tensor")
    doc = ast.get_docstring(node, clean=True)
    return [f"{indent}def {name}({', '.join(texts)}) -> {gives}:{'' if doc else ' ...'}", *([quoted(doc, indent + "    ")] if doc else [])]


def written_parameter(name, default):
    kind = TAKES.get(name, "Any")
    if isinstance(default, ast.Constant) and default.value is None and "None" not in kind and kind != "Any":
        kind += " | None"
    return f"{name}: {kind}{'' if default is None else f' = {ast.unparse(default)}' if isinstance(default, ast.Constant) else ' = ...'}"


def assigned(node):
    """Pairs of a name and the expression that it is given, of a line such as `a, b = c = d, e`."""
    for target in node.targets:
        if isinstance(target, ast.Tuple):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] * len(target.elts)
            yield from ((name.id, value) for name, value in zip(target.elts, values))
        else:
            yield target.id, node.value


def named(expression):
    """What `_C.abs`, `_C._linalg["det"]` or a plain name stand for: the module and the name in it."""
    if isinstance(expression, ast.Attribute) and getattr(expression.value, "id", None) == "_C":
        return "tandem._C", expression.attr
    if isinstance(expression, ast.Subscript) and getattr(expression.value, "attr", None) == "_linalg":
        return "tandem.linalg", expression.slice.value
    if isinstance(expression, ast.Name):
        return "", expression.id
    return None


def functions_of(module):
    """The stubs of the public functions of a module, by name: definitions, and other names for what the extension has."""
    tree = tree_of(module)
    public, found, defined = set(ast.literal_eval(value_of(tree, "__all__"))), {}, {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            defined[node.name] = node
            if node.name in public:
                found[node.name] = written(node)
        elif isinstance(node, ast.ImportFrom):
            found |= {name: written(definition(tree, name)) for name in public & {alias.asname or alias.name for alias in node.names}}
        elif isinstance(node, ast.Assign):
            for name, expression in assigned(node):
                place = named(expression)
                if name not in public:
                    continue
                if place and place[0]:
                    found[name] = [f"from {place[0]} import {place[1]} as {name}"]
                elif place and place[1] in defined:
                    found[name] = written(defined[place[1]], name)
                else:
                    found[name] = [f"def {name}(*args: Any, **kwargs: Any) -> {GIVES.get(name, 'Tensor')}: ..."]
    missing = public - set(found)
    if missing:
        sys.exit(f"{module}.py: __all__ names what is not found there: {', '.join(sorted(missing))}")
    return found


def flat_methods(tree):
    """The loops of _tensor.py that give Tensor functions as methods: for each the names, and the helper that makes the method."""
    for node in tree.body:
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
            helper = next(
                call.func.id
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.startswith("_")
            )
            yield [element.value for element in node.iter.elts], helper


def methods_in_python(groups, generated, results):
    """The methods of Tensor that _tensor.py makes of functions, and other names for methods."""
    tree, lines, done = tree_of("_tensor"), [], set(generated)
    table = value_of(tree, "METHODS")
    for name, value in ((key.value, value) for key, value in zip(table.keys, table.values)):
        if name not in done:
            done.add(name)
            lines += from_table(tree, name, value)
    sources = {
        node.name: node for module in ("_functions", "_composed", "_more", "_named_special", "_bits", "_factorizations") for node in tree_of(module).body if isinstance(node, ast.FunctionDef)
    }
    for names, helper in flat_methods(tree):
        for name in names:
            if name in done:
                continue
            done.add(name)
            if helper == "_from_functions" and name in sources:
                lines += written(sources[name], name, method=True)
            else:
                lines += as_methods(name, groups["function"].get(name) or groups["linalg"].get(name), results)
    for name, other in ast.literal_eval(value_of(tree, "_ALIASES")).items():
        if name not in done and (other in groups["method"] or other in done):
            done.add(name)
            lines.append(f"    {name} = {other}")
    return lines


def definition(tree, name):
    """A function that a module defines, or imports from another one of the package."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom):
            given = next((alias.name for alias in node.names if (alias.asname or alias.name) == name), None)
            if given:
                return definition(tree_of(node.module.removeprefix("tandem.")), given)
    sys.exit(f"no function {name} was found")


def from_table(tree, name, value):
    """The stub of a row of METHODS: a function of the module, a lambda, a property, or a constant."""
    if isinstance(value, ast.Name):
        return written(definition(tree, value.id), name, method=True)
    if isinstance(value, ast.Constant):
        return [f"    {name}: _{type(value.value).__name__}"]
    if isinstance(value, ast.Call) and getattr(value.func, "id", None) == "property":
        return ["    @property", f"    def {name}(self) -> Any: ..."]
    return [f"    def {name}(self, *args: Any, **kwargs: Any) -> Any: ..."]


def as_methods(name, forms, results):
    """The overloads of a function whose first parameter is the tensor itself."""
    if not forms:
        return [f"    def {name}(self, *args: Any, **kwargs: Any) -> {'Self' if name.endswith('_') else GIVES.get(name, 'Tensor')}: ..."]
    lines = definitions(name, forms, results, "    ")
    return [line if not line.startswith("    def ") else "    def " + name + "(self" + cut_first(line.split("(", 1)[1]) for line in lines]


def cut_first(rest):
    """The text after a first parameter, from its comma or closing parenthesis on."""
    depth = 0
    for i, letter in enumerate(rest):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
        elif depth == 0 and letter in ",)":
            return rest[i:]
    return rest


# --- The files


def extension(groups):
    """_C.pyi."""
    results = {}
    by_hand = (FOLDER / "by_hand.pyi").read_text()
    by_hand = by_hand[by_hand.index("from builtins") :]
    body = next(node for node in ast.parse(by_hand).body if isinstance(node, ast.ClassDef) and node.name == "Tensor").body
    hand_written = {"__format__", "__reduce_ex__"} | {
        node.name if isinstance(node, ast.FunctionDef) else node.target.id
        for node in body
        if isinstance(node, (ast.FunctionDef, ast.AnnAssign))
    }
    methods = [
        line
        for name, forms in sorted(groups["method"].items())
        if name not in hand_written
        for line in definitions(name, forms, results, "    ")
    ]
    methods += methods_in_python(groups, set(groups["method"]) | hand_written, results)
    functions = [line for name, forms in sorted(groups["function"].items()) for line in definitions(name, forms, results)]
    for forms in groups["linalg"].values():  # their named results are declared here too
        for form in forms:
            result(form, results)
    tuples = [
        line
        for name, fields in sorted(results.items())
        for line in [f"class {name}(NamedTuple):", *(f"    {field}: Tensor" for field in fields)]
    ]
    text = by_hand.replace("    # operators", "\n".join(operators())).replace("    # methods", "\n".join(methods))
    return HEAD + CHECKS + text.replace("# operations", "\n".join([*tuples, "", *functions]))


IMPORTS = """\
from builtins import bool as _bool, float as _float, int as _int, str as _str
from collections.abc import Sequence
from typing import Any, overload

from tandem._C import _Device, _DType, _dtype, _Number, _Shape
"""


def package(groups):
    """__init__.pyi: the names that __init__.py imports, and those that it takes from the extension in a loop."""
    tree = tree_of("__init__")
    names = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            bound = [alias.name for alias in node.names]
            if bound == ["*"]:
                names |= functions_of(node.module)
            elif node.level and not node.module:
                names |= {name: [f"from tandem import {name} as {name}"] for name in bound if not name.startswith("_")}
            else:
                module = f"tandem.{node.module}" if node.level else node.module
                if node.level and not node.module.startswith("_"):
                    names.setdefault(node.module, [f"from tandem import {node.module} as {node.module}"])
                names |= {name: [f"from {module} import {name} as {name}"] for name in bound}
        elif isinstance(node, ast.Assign) and not getattr(node.targets[0], "id", "").startswith("_"):
            names |= {name: [f"{name}: {value_type(value)}"] for name, value in assigned(node)}
        elif isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
            lazy = [element.value for tuple_ in ast.walk(node) if isinstance(tuple_, ast.Tuple) for element in tuple_.elts]
            names |= {
                name: [f"from tandem import {name} as {name}"]
                for name in lazy
                if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists()
            }
    for name in legacy_types():
        names[name] = [f"{name}: type[Tensor]"]
    by_hand = [
        node.name for node in ast.parse((FOLDER / "by_hand.pyi").read_text()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    for name in [*groups["function"], *by_hand]:
        if not name.startswith("_"):
            names.setdefault(name, [f"from tandem._C import {name} as {name}"])
    lines = [line for name in sorted(names) for line in names[name]]
    return (
        HEAD
        + CHECKS
        + IMPORTS
        + "\n".join([*gathered(lines), "", *(line for line in lines if not line.startswith("from ")), "__version__: _str", ""])
    )


def gathered(lines):
    """The imports among the lines, one statement for each module."""
    modules = {}
    for line in lines:
        if line.startswith("from "):
            _, module, _, what = line.split(" ", 3)
            modules.setdefault(module, []).append(what)
    return [
        text for module, names in sorted(modules.items()) for text in (f"from {module} import (", *(f"    {name}," for name in names), ")")
    ]


def legacy_types():
    tree = tree_of("__init__")
    return next([alias.name for alias in node.names] for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "_legacy")


def value_type(value):
    """The type of a constant of __init__.py."""
    if isinstance(value, ast.Constant):
        return "None" if value.value is None else f"_{type(value.value).__name__}"
    return "_dtype"


def linear_algebra(groups):
    """linalg.pyi."""
    results, tree = {}, tree_of("linalg")
    names = {name: definitions(name, forms, results) for name, forms in groups["linalg"].items()}
    names |= {node.name: written(node) for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
    lines = ["from tandem._C import Generator, Size, Tensor", *(f"from tandem._C import {name}" for name in sorted(results)), ""]
    lines += [line for name in sorted(names) for line in names[name]]
    lines += ["class LinAlgError(RuntimeError):", '    """A matrix that an operation cannot work with, such as a singular one."""', ""]
    return HEAD + CHECKS + IMPORTS + "\n".join(lines)


def gathering(package, lazy):
    """The stub of a package that gathers names."""
    lines = [f"from {module} import {name} as {name}" for name, module in lazy.items()]
    for node in tree_of(f"{package.replace('.', '/')}/__init__").body:
        if isinstance(node, ast.ImportFrom):
            lines += [f"from {node.module} import {alias.name} as {alias.asname or alias.name}" for alias in node.names]
    return HEAD + "\n".join([*gathered(lines), ""])


def stubs():
    """The text of each stub, by its path."""
    api = json.loads((FOLDER / "api.json").read_text())
    names = tomllib.loads((FOLDER / "names.toml").read_text())
    groups, _ = bindings.collect(names, api)
    return {
        PACKAGE / "_C.pyi": extension(groups),
        PACKAGE / "__init__.pyi": package(groups),
        PACKAGE / "linalg.pyi": linear_algebra(groups),
        **{PACKAGE / package.replace(".", "/") / "__init__.pyi": gathering(package, lazy) for package, lazy in GATHERING.items()},
    }


def main():
    stale = [path for path, text in stubs().items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"stale: {', '.join(str(path.relative_to(PACKAGE)) for path in stale)}: run python/generate/stubs.py")
        return
    for path, text in stubs().items():
        bindings.write(path, text)


if __name__ == "__main__":
    main()
