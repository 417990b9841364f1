#!/usr/bin/env python3
"""C++ sources that bind the operations to Python: bindings.py OUTPUT

Reads api.json and names.toml beside this file, and writes functions_0.cpp and so on, and registry.cpp, into the folder OUTPUT: a table of signatures and a
function for each name of PyTorch's. A build runs it; it needs nothing but Python. --list prints the signatures instead.
"""

import argparse
import json
import pathlib
import re
import tomllib

import words

FOLDER = pathlib.Path(__file__).parent
SHARDS = 8
MOST_PARAMETERS = 32  # Arguments::kMost

# How a parameter of each C++ type is read: the kind that the parser looks for, and the expression that makes the value of a slot.
READERS = {
    "Tensor": ("Tensor", "optional_tensor({})"),
    "Operand": ("Operand", "to_operand({}, site)"),
    "Input": ("Tensor", "Input(optional_tensor({}), site)"),
    "int64_t": ("Int", "to_int({})"),
    "int": ("Int", "static_cast<int>(to_int({}))"),
    "Integer auto": ("Int", "to_int({})"),
    "Flag": ("Bool", "Flag(to_bool({}))"),
    "bool": ("Bool", "to_bool({})"),
    "std::same_as<bool> auto": ("Bool", "to_bool({})"),
    "double": ("Double", "to_double({})"),
    "Scalar": ("Scalar", "to_scalar({})"),
    "Shape": ("Shape", "to_shape({})"),
    "PerDim": ("Shape", "PerDim(to_shape({}))"),
    "ConvPadding": ("Padding", "to_padding({})"),
    "OutputSize": ("Sizes", "to_output_size({})"),
    "std::string_view": ("Text", "to_text({})"),
    "char*": ("Text", "to_text({}).data()"),
    "std::string": ("Text", "std::string(to_text({}))"),
    "DType": ("DType", "to_dtype({})"),
    "ExactlyDType auto": ("DType", "to_dtype({})"),
    "Device": ("Device", "to_device({})"),
    "Reduction": ("Reduction", "to_reduction({})"),
    "std::vector<Tensor>": ("Tensors", "to_tensors({})"),
    "std::vector<double>": ("Doubles", "to_doubles({})"),
}
# What Python calls a kind in the text of a signature.
WORDS = {"Tensor": "Tensor", "Operand": "Tensor", "Int": "int", "Bool": "bool", "Double": "float", "Scalar": "Number", "Shape": "tuple of ints",
         "Padding": "tuple of ints or str", "Sizes": "tuple of ints", "Text": "str", "DType": "dtype", "Device": "device", "Reduction": "str",
         "Tensors": "tuple of Tensors", "Doubles": "tuple of floats", "Generator": "Generator", "Any": "object", "None": "None"}
NAMED = {"ValuesIndices": ("values", "indices"), "MinMax": ("min", "max"), "QrResult": ("Q", "R"), "EighResult": ("eigenvalues", "eigenvectors"),
         "SvdResult": ("U", "S", "Vh"), "SlogdetResult": ("sign", "logabsdet"), "LstsqResult": ("solution", "residuals", "rank", "singular_values")}
TUPLES = {"VarMean": ("var", "mean"), "StdMean": ("std", "mean"), "RnnResult": ("output", "h_n"), "LstmResult": ("output", "h_n", "c_n"),
          "LstmState": ("h", "c"), "MultiHeadAttentionResult": ("attn_output", "attn_output_weights")}
NAMESPACES = {"tandem": "tandem::", "tandem::linalg": "tandem::linalg::"}


class NotBound(Exception):
    """Why a C++ signature has no form in Python."""


def plain(cpp):
    """A type without const and references."""
    return re.sub(r"^const ", "", cpp).rstrip("& ").strip()


class Slot:
    """A parameter of the Python function."""

    def __init__(self, name, kind, optional, default=None, keyword_only=False):
        self.name, self.kind, self.optional, self.default, self.keyword_only = name, kind, optional, default, keyword_only

    def nullable(self):
        """Whether None stands for the default: not for a number or a bool that has another one."""
        return self.optional and (self.default == "None" or self.kind not in ("Bool", "Int", "Double", "Scalar"))

    def row(self):
        """Its row of the table of a signature."""
        flags = ", ".join(str(flag).lower() for flag in (self.optional, self.keyword_only, self.nullable()))
        return f'{{"{self.name}", Kind::{self.kind}, {flags}}}'

    def text(self):
        return f"{WORDS[self.kind]} {self.name}" + (f"={self.default}" if self.optional else "")


class Form:
    """One signature: its slots, and the C++ that reads them and calls."""

    def __init__(self, names, api, function, method, name=None):
        self.names, self.api, self.function, self.method = names, api, function, method
        self.slots, self.lines, self.arguments = [], [], []
        self.out = None  # the slot of out=
        place = ("linalg." if function.get("namespace") == "tandem::linalg" else "") + function["name"].rstrip("_")
        self.rename = names["parameters"] | names["of"].get(place, {}) | names["of"].get(function["name"], {})
        if name:
            self.rename |= names["of"].get(name.rstrip("_"), {})
        self.by_name = names["keyword_only"].get(place, [])
        parameters = function["parameters"]
        if not parameters or parameters[-1]["type"] != "Site":
            raise NotBound("it takes no Site")
        if method:
            self.slots.append(Slot("self", "Tensor", False))
        for parameter in parameters[:-1]:
            self.parameter(parameter)
        name = function["name"]
        if name in names["random"]:
            self.slots.append(Slot("generator", "Generator", True, "None", True))
            self.lines.append(f"const DrawFrom drawn(a[{len(self.slots) - 1}]);")
        for only_none in names["only_none"].get(name, []):
            if all(slot.name != only_none for slot in self.slots):
                self.slots.append(Slot(only_none, "None", True, "None", only_none not in names["positional"].get(name, [])))
        for ignored in names["ignored"].get(name, []):
            self.slots.append(Slot(ignored, "Any", True, "None", True))
        if not method and function["returns"] == "Tensor" and not self.creates and self.has_out():
            self.out = len(self.slots)
            self.slots.append(Slot("out", "Tensor", True, "None", True))
        if not method and function["returns"] in NAMED and self.has_out():
            self.out = len(self.slots)
            self.slots.append(Slot("out", "Tensors", True, "None", True))
        if len(self.slots) > MOST_PARAMETERS:
            raise NotBound("it takes too many parameters")

    creates = False

    def has_out(self):
        """Whether it takes out=: not where names.toml says so."""
        name = self.function["name"]
        return self.function.get("namespace") == "tandem::linalg" and name != "diagonal" or name not in self.names["no_out"]

    def python_name(self, name):
        return self.rename.get(name, name)

    def reader(self, cpp):
        """Kind, expression, and whether the type itself may hold nothing."""
        if cpp in READERS:
            return *READERS[cpp], False
        inner = re.fullmatch(r"std::optional<(.*)>", cpp)
        if inner and inner[1] in READERS:
            kind, expression = READERS[inner[1]]
            return kind, f"given({{0}}) ? std::optional<{inner[1]}>({expression.replace('{}', '{0}')}) : std::optional<{inner[1]}>()", True
        return None

    def value(self, cpp, default, at):
        """The C++ expression of a parameter."""
        kind, expression, empty = self.reader(cpp)
        slot = f"a[{at}]"
        read = expression.replace("{0}", slot).replace("{}", slot)
        if empty or cpp == "Tensor" or default is None:
            return kind, read
        type_name = {"Integer auto": "int64_t", "std::same_as<bool> auto": "bool", "char*": "static_cast<const char*>"}.get(cpp, cpp)
        fallback = f"{type_name}{default}" if default.startswith("{") else f"{type_name}({default})"
        return kind, f"given({slot}) ? {read} : {fallback}"

    def parameter(self, parameter):
        cpp, default = plain(parameter["type"]), parameter.get("default")
        if cpp == "Options":
            self.options()
        elif self.reader(cpp):
            at, name = len(self.slots), self.python_name(parameter["name"])
            kind, value = self.value(cpp, default, at)
            if kind == "Operand" and self.function["name"] in self.names["tensors_only"]:
                kind = "Tensor"
            nullable = kind == "Shape" and name == "dim" and default is None and self.function["name"] in self.names["nullable"]
            optional = default is not None or self.reader(cpp)[2] or nullable or name in self.names["optional"].get(self.function["name"], [])
            keyword_only = cpp == "ExactlyDType auto" or (name == "dtype" and cpp.startswith("std::optional")) or name in self.by_name
            keyword_only = keyword_only and name not in self.names["positional"].get(self.function["name"], [])
            self.slots.append(Slot(name, kind, optional, shown(default), keyword_only))
            self.take(value, cpp)
        elif cpp.endswith(("Options", "Tolerance")):
            self.options_of(cpp)
        else:
            raise NotBound(f"it takes {cpp}")

    def take(self, value, cpp):
        variable = f"v{len(self.arguments)}"
        reference = "&" if cpp == "Tensor" else ""
        self.lines.append(f"const auto{reference} {variable} = {value};")
        self.arguments.append(variable)

    def options(self):
        """dtype, device, requires_grad and pin_memory, as all functions that create tensors take them."""
        self.creates = True
        first, variable = len(self.slots), f"v{len(self.arguments)}"
        for name, kind in (("dtype", "DType"), ("device", "Device"), ("requires_grad", "Bool"), ("pin_memory", "Bool"), ("layout", "Any"), ("memory_format", "Any")):
            self.slots.append(Slot(name, kind, True, "False" if kind == "Bool" else "None", True))
        like = "true" if self.method or self.function["name"].endswith("_like") else "false"
        takes_out = not self.method and not self.function["name"].endswith("_like") and self.has_out()
        asked = variable + "_asked" if takes_out else variable
        self.lines.append(f"const Options {asked} = creation_options(a[{first}], a[{first + 1}], a[{first + 2}], a[{first + 3}], {like});")
        self.arguments.append(variable)
        if takes_out:
            self.out = len(self.slots)
            self.slots.append(Slot("out", "Tensor", True, "None", True))
            self.lines.append(f"const Options {variable} = of_out(a[{self.out}], {asked});")

    def options_of(self, cpp):
        cpp = next((f"{scope}{cpp}" for scope in ("", "linalg::") if f"tandem::{scope}{cpp}" in self.api["classes"]), cpp)
        fields = self.api["classes"].get(f"tandem::{cpp}", {}).get("fields")
        if fields is None:
            raise NotBound(f"it takes {cpp}")
        variable = f"v{len(self.arguments)}"
        self.lines.append(f"{cpp} {variable};")
        order = self.names["order"].get(self.function["name"], [])
        for field in sorted(fields, key=lambda f: order.index(self.python_name(f["name"])) if self.python_name(f["name"]) in order else 99):
            reader = self.reader(field["type"])
            if not reader:
                raise NotBound(f"{cpp} has {field['name']} of type {field['type']}")
            at = len(self.slots)
            read = reader[1].replace("{0}", f"a[{at}]").replace("{}", f"a[{at}]")
            name = self.python_name(field["name"])
            self.slots.append(Slot(name, reader[0], True, shown(field.get("default")), name in self.by_name))
            self.lines.append(f"if (given(a[{at}])) {variable}.{field['name']} = {read};")
        self.arguments.append(variable)

    def call(self):
        return self.arguments + ["site"]

    def result(self):
        """The lines that call and wrap."""
        function = self.function
        name, returns = function["name"], function["returns"]
        target = f"tensor_of(a[0]).{name}" if self.method else f"{NAMESPACES[function['namespace']]}{name}"
        call = f"{target}({', '.join(self.call())})"
        large = next((f"is_large(a[{i}])" for i, slot in enumerate(self.slots) if slot.kind in ("Tensor", "Operand") and slot.name != "out"), None)
        unlock = f"const WithoutLock unlocked({large});\n        " if large else ""
        if returns in ("Tensor", "const Tensor &") and not (self.method and name.endswith("_")):
            wrapped = f"into(a[{self.out}], std::move(result), site)" if self.out is not None else "wrap(std::move(result))"
            return [f"Tensor result;\n      {{\n        {unlock}result = {call};\n      }}", f"return {wrapped};"]
        if returns == "const Tensor&" or returns == "const Tensor &":
            return [f"{{\n        {unlock}{call};\n      }}", "return Py_NewRef(a[0]);"]
        if returns == "std::vector<Tensor>":
            return [f"std::vector<Tensor> results;\n      {{\n        {unlock}results = {call};\n      }}", "return wrap_tuple(std::move(results));"]
        if returns == "void":
            return [f"{call};", "Py_RETURN_NONE;"]
        if returns == "bool":
            return [f"return PyBool_FromLong({call});"]
        if returns in ("int64_t", "size_t", "int", "uint32_t"):
            return [f"return PyLong_FromLongLong(static_cast<long long>({call}));"]
        if returns in ("Shape", "const Shape&"):
            return [f"return from_shape({call});"]
        if returns in NAMED:
            fields = ", ".join(f'"{field}"' for field in NAMED[returns])
            parts = ", ".join(f"std::move(result.{field})" for field in NAMED[returns])
            kind = self.names["results"].get(name, ("linalg_" if function.get("namespace") == "tandem::linalg" else "") + name)
            wrapped = f"wrap_named(kind, {{{parts}}})"
            if self.out is not None:
                wrapped = f'into_named("{kind}", a[{self.out}], kind, {{{parts}}}, site)'
            return [f'static NamedResult kind{{"{kind}", {{{fields}}}}};', f"auto result = {call};", f"return {wrapped};"]
        if returns in TUPLES:
            parts = ", ".join(f"result.{field}" for field in TUPLES[returns])
            return [f"const auto result = {call};", f"return wrap_defined({{{parts}}});"]
        if returns == "Unique":
            return [f"const auto result = {call};", "return wrap_unique({result.output, result.inverse_indices, result.counts});"]
        raise NotBound(f"it returns {returns}")

    def text(self):
        shown_slots, keyword = [], False
        for slot in self.slots[1 if self.method else 0:]:
            if slot.kind == "Any":
                continue
            if slot.keyword_only and not keyword:
                shown_slots.append("*")
                keyword = True
            shown_slots.append(slot.text())
        return ", ".join(shown_slots)


def shown(default):
    """A default as Python writes it."""
    if default is None or default in ("{}", "Tensor()"):
        return "None"
    if default.startswith("{"):
        default = f"({default[1:-1]})"
    return {"true": "True", "false": "False", "Reduction::Mean": "'mean'"}.get(default, default.replace('"', "'"))


def literal(text):
    return json.dumps(text, ensure_ascii=False)


def source_of(symbol, name, forms, method):
    """The tables and the function of one name."""
    out = []
    for i, form in enumerate(forms):
        rows = ", ".join(slot.row() for slot in form.slots)
        out.append(f"Parameter {symbol}_parameters_{i}[] = {{{rows}}};" if rows else f"std::span<Parameter> {symbol}_parameters_{i};")
    spread = forms[0].function["name"] in forms[0].names["spread"]["methods" if method else "functions"]
    listed = [f"{{{symbol}_parameters_{i}, {literal(form.text())}, {str(spread).lower()}}}" for i, form in enumerate(forms)]
    if len(forms) == 1 and forms[0].function["name"] in forms[0].names["several"]:
        listed *= 2
    signatures = ", ".join(listed)
    out.append(f"Signature {symbol}_signatures[] = {{{signatures}}};")
    told = ("linalg_" if forms[0].function.get("namespace") == "tandem::linalg" else "") + name.lstrip("_")
    out.append(f"const Callable {symbol}_callable{{{literal(told)}, {symbol}_signatures}};")
    self_argument = "self" if method else "nullptr"
    out.append(f"PyObject* {symbol}(PyObject* {'self' if method else ''}, PyObject* const* args, Py_ssize_t count, PyObject* names) {{")
    out.append("  return guarded([&]() -> PyObject* {\n    Arguments a;")
    for i, form in enumerate(forms):
        body = "\n      ".join(["const AtCaller site;", *form.lines, *form.result()])
        out.append(f"    if (a.fit({symbol}_signatures[{i}], {self_argument}, args, count, names)) {{\n      {body}\n    }}")
    out.append(f"    return refuse({symbol}_callable, {self_argument}, args, count, names);\n  }});\n}}")
    return "\n".join(out)


def collect(names, api):
    """By Python's place and name: the forms, in the order in which they are tried. And what has none, with the reason."""
    groups = {"function": {}, "linalg": {}, "method": {}}
    left_out = []
    hidden = set(names["hidden"])
    for function in api["functions"]:
        if function["namespace"] in NAMESPACES and re.fullmatch(r"\w+", function["name"]) and function["header"].startswith("ops/"):
            group = "linalg" if function["namespace"] == "tandem::linalg" else "function"
            add(groups[group], left_out, names, api, function, False, hidden)
    for function in api["classes"]["tandem::Tensor"]["methods"]:
        if re.fullmatch(r"\w+", function["name"]) and function["name"] not in names["by_hand"]:
            add(groups["method"], left_out, names, api, function, True, hidden)
    return groups, left_out


def python_names(names, function):
    """The names that a C++ function has in Python: its own or PyTorch's, and others for the same."""
    name = function["name"]
    yield names["renamed"].get(name, name)
    if function.get("namespace") != "tandem::linalg":
        for alias in names["aliases"].get(name.rstrip("_"), []):
            yield alias + ("_" if name.endswith("_") else "")


def add(group, left_out, names, api, function, method, hidden):
    if function["name"] in hidden:
        return
    for name in python_names(names, function):
        try:
            form = Form(names, api, function, method, name)
            form.result()
        except NotBound as reason:
            left_out.append((("Tensor." if method else function["namespace"] + "::") + name, str(reason)))
            return
        forms = group.setdefault(name, [])
        first = names["first"].get(function["name"])
        forms.insert(1 if first and len(form.slots) > 1 and form.slots[1].name == first else len(forms), form)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", nargs="?", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="print the signatures and what has none")
    arguments = parser.parse_args()
    api = json.loads((FOLDER / "api.json").read_text())
    names = tomllib.loads((FOLDER / "names.toml").read_text())
    groups, left_out = collect(names, api)
    if arguments.list:
        print(json.dumps({"bound": {group: {name: [form.text() for form in forms] for name, forms in sorted(of.items())} for group, of in groups.items()},
                          "left_out": left_out}, indent=1))
        return
    arguments.output.mkdir(parents=True, exist_ok=True)
    shards, registered = [[] for _ in range(SHARDS)], [[] for _ in range(SHARDS)]
    number = 0
    for group, of in groups.items():
        for name, forms in of.items():
            symbol, shard = f"{group}_{name}", number % SHARDS
            number += 1
            shards[shard].append(source_of(symbol, name, forms, group == "method"))
            doc = "\n".join(f"{name}({form.text()})" for form in forms)
            told = words.docs(forms[-1].function["doc"] or forms[0].function["doc"], forms)
            registered[shard].append(f'  prepare({symbol}_callable);\n  add_to(Place::{group.capitalize()}, fast("{name}", {symbol}, {literal(doc + chr(10) + chr(10) + told)}));')
    head = "// Written by python/generate/bindings.py.\n"
    for i in range(SHARDS):
        text = (head + '#include "bindings.h"\n\nnamespace tandem::python {\nnamespace {\n\n' + "\n\n".join(shards[i]) +
                f"\n\n}}  // namespace\n\nvoid register_{i}() {{\n" + "\n".join(registered[i]) + "\n}\n\n}  // namespace tandem::python\n")
        write(arguments.output / f"functions_{i}.cpp", text)
    calls = "\n".join(f"  register_{i}();" for i in range(SHARDS))
    declarations = "\n".join(f"void register_{i}();" for i in range(SHARDS))
    write(arguments.output / "registry.cpp", head + f'#include "bindings.h"\n\nnamespace tandem::python {{\n\n{declarations}\n\nvoid register_operations() {{\n{calls}\n}}\n\n}}  // namespace tandem::python\n')


def write(path, text):
    """Only where it changes something: what was compiled from it stays fresh."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main()
