#!/usr/bin/env python3
"""The public C++ interface as data: scan.py GENERATED [--check] [--out FILE]

Reads src/tandem.h with libclang (Debian's python3-clang) and writes api.json beside this file: all functions, classes, structs of options, enums and
constants that users can name, with types and defaults as they are written and their comments. What is generated for other languages, and pages that list
the interface, are made from it. GENERATED is the folder of headers that a build writes (build/release/generated).

--check writes nothing and exits with 1 where api.json is not what the headers say now. Exit code 77: there is no libclang here.
"""

import argparse
import glob
import importlib.util
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
API = pathlib.Path(__file__).with_name("api.json")
# Namespaces whose names users never write, though headers that they include have them.
INTERNAL_NAMESPACES = {"detail", "kernels", "runtime", "launching", "compiling", "cases"}
SPECIFIERS = {"static", "virtual", "inline", "constexpr", "explicit", "extern", "friend", "TD_EXPORT"}


def libclang():
    """The module clang.cindex with its library found; None where there is none."""
    try:
        from clang import cindex
    except ImportError:
        return None
    try:
        cindex.Index.create()
    except cindex.LibclangError:
        found = sorted(glob.glob("/usr/lib/*/libclang-*.so*") + glob.glob("/usr/lib/llvm-*/lib/libclang*.so*"))
        if not found:
            return None
        cindex.Config.loaded = False
        cindex.Config.set_library_file(found[-1])
    return cindex


def internal_headers():
    """The headers that the reference leaves out, by its own list."""
    spec = importlib.util.spec_from_file_location("headers", ROOT / "docs/site/headers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.INTERNAL, module.MACHINERY


def system_folders():
    """Where the compiler that builds tandem has its own headers."""
    said = subprocess.run(["c++", "-std=c++20", "-xc++", "-E", "-v", "/dev/null", "-o", "/dev/null"], capture_output=True, text=True, check=True).stderr
    listed = said.split("#include <...> search starts here:")[1].split("End of search list")[0].split()
    return [f"-isystem{folder}" for folder in listed]


def joined(tokens):
    """Tokens as they would be written."""
    text = " ".join(tokens)
    text = re.sub(r" ?(::|->|\.|~) ?", r"\1", text)
    text = re.sub(r" ?([(\[<]) ?", r"\1", text)
    text = re.sub(r" ([)\]>,;])", r"\1", text)
    text = re.sub(r" ?([*&]+)(?= |$|[,)>])", r"\1", text)
    text = re.sub(r"^- ", "-", text)
    text = re.sub(r"\{ ", "{", re.sub(r" \}", "}", text))
    return text.replace("> (", ">(").strip()


def comment_of(cursor):
    """The text of a comment without its slashes, a line each."""
    raw = cursor.raw_comment or ""
    lines = [re.sub(r"^\s*///?<? ?", "", line).rstrip() for line in raw.split("\n")]
    return "\n".join(lines).strip()


def speaks_of(comment, name, other):
    """Whether a comment above `name` speaks of `other`, the next declaration, too: an overload, conv1d and conv2d, relu and relu_, a name that stands in it."""
    def family(name):
        return "operator" if name.startswith("operator") else re.sub(r"\d", "", name).rstrip("_").removesuffix("_with_indices")
    return family(name) == family(other) or re.search(rf"\b{re.escape(other)}\b", comment) is not None


class Scan:
    def __init__(self, cindex, generated):
        self.kinds = cindex.CursorKind
        self.public = cindex.AccessSpecifier.PUBLIC
        self.internal, self.machinery = internal_headers()
        self.folders = [ROOT / "src", pathlib.Path(generated).resolve(), pathlib.Path(generated).resolve() / "include"]
        arguments = ["-xc++", "-std=c++20", "-DTD_LIBRARY", "-nostdinc", "-nostdinc++", f"-I{generated}", f"-I{generated}/include", f"-I{ROOT}/src"]
        self.unit = cindex.Index.create().parse(str(ROOT / "src/tandem.h"), args=arguments + system_folders())
        errors = [d for d in self.unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if errors:
            sys.exit("scan: libclang does not understand the headers:\n" + "\n".join(str(error) for error in errors[:10]))
        self.functions, self.classes, self.enums, self.constants = [], {}, {}, []
        self.above = None  # the declaration before, with what its comment says
        self.last_field = None  # the field before: where it starts, where it ends, its type
        self.namespace(self.unit.cursor)
        self.give_methods_their_functions_comment()

    def header(self, cursor):
        """The header of a cursor, as it is included; None for one that is not ours or not public."""
        if cursor.location.file is None:
            return None
        path = pathlib.Path(cursor.location.file.name).resolve()
        for folder in self.folders:
            if path.is_relative_to(folder):
                name = str(path.relative_to(folder))
                return None if name in self.internal else name
        return None

    def scope(self, cursor):
        names, at = [], cursor.semantic_parent
        while at is not None and at.kind != self.kinds.TRANSLATION_UNIT:
            if at.spelling:
                names.append(at.spelling)
            at = at.semantic_parent
        return "::".join(reversed(names))

    def tokens(self, cursor):
        return [token.spelling for token in self.unit.get_tokens(extent=cursor.extent)]

    def comment(self, cursor):
        """Its own comment, or that of the one right above it, of the same family."""
        text, above = comment_of(cursor), self.above
        # A template whose parameter is `auto` has no extent.
        start, end = (cursor.extent.start, cursor.extent.end) if cursor.extent.start.file else (cursor.location, cursor.location)
        if not text and above and above[:2] == (start.file.name, start.line - 1) and speaks_of(above[3], above[2], cursor.spelling):
            text = above[3]
        self.above = (end.file.name, end.line, cursor.spelling, text)
        return text

    def give_methods_their_functions_comment(self):
        """Forms in place and methods of Tensor say what the function of their name does."""
        of = {}
        for function in self.functions:
            if function["namespace"] == "tandem" and function["doc"]:
                of.setdefault(function["name"], function["doc"])
        for entry in self.functions + self.classes["tandem::Tensor"]["methods"]:
            if entry.get("namespace", "tandem") == "tandem":
                entry["doc"] = entry["doc"] or of.get(entry["name"]) or of.get(entry["name"].rstrip("_"), "")

    def parameter(self, cursor):
        tokens, default = self.tokens(cursor), None
        if "=" in tokens:
            default = joined(tokens[tokens.index("=") + 1:])
            tokens = tokens[:tokens.index("=")]
        if cursor.spelling and cursor.spelling in tokens:
            at = len(tokens) - 1 - tokens[::-1].index(cursor.spelling)
            tokens = tokens[:at] + tokens[at + 1:]
        entry = {"name": cursor.spelling, "type": joined(tokens)}
        if default is not None:
            entry["default"] = default
        return entry

    def field(self, cursor):
        """A field. Of several in one declaration each has the tokens from the type to its own end: "double margin = 1, p = 2"."""
        entry = self.parameter(cursor)
        start = cursor.extent.start.offset
        if self.last_field and self.last_field[0] == start and cursor.extent.end.offset > self.last_field[1]:
            entry["type"] = self.last_field[2]
            if "default" in entry:
                entry["default"] = entry["default"].rsplit(f"{cursor.spelling} = ", 1)[-1]
        self.last_field = (start, cursor.extent.end.offset, entry["type"])
        return entry

    def returns(self, cursor, tokens):
        """The result's type as it is written: what stands between the specifiers and the name."""
        name = cursor.spelling
        stop = tokens.index("operator") if name.startswith("operator") and "operator" in tokens else tokens.index(name) if name in tokens else 0
        kept, skip = [], 0
        for i, token in enumerate(tokens[:stop]):
            if token == "template":
                skip = -1
            if skip == -1:  # up to the bracket that closes the parameters
                depth = tokens[:i + 1].count("<") - tokens[:i + 1].count(">")
                if token == ">" and depth == 0:
                    skip = 0
                continue
            if token == "[" and tokens[i + 1] == "[":
                skip = 1
            if skip == 1:
                if token == "]" and tokens[i - 1] == "]":
                    skip = 0
                continue
            if token not in SPECIFIERS:
                kept.append(token)
        # A template with `auto` among its parameters has no tokens, and one that requires something has more than the type.
        return cursor.result_type.spelling.replace("tandem::", "") if kept[:1] in ([], ["requires"]) else joined(kept)

    def function(self, cursor):
        tokens = self.tokens(cursor)
        entry = {"name": cursor.spelling, "returns": self.returns(cursor, tokens),
                 "parameters": [self.parameter(p) for p in cursor.get_children() if p.kind == self.kinds.PARM_DECL]}
        if cursor.kind == self.kinds.FUNCTION_TEMPLATE:
            entry["template"] = [p.spelling for p in cursor.get_children()
                                 if p.kind in (self.kinds.TEMPLATE_TYPE_PARAMETER, self.kinds.TEMPLATE_NON_TYPE_PARAMETER)]
        entry["doc"] = self.comment(cursor)
        return entry

    def unwanted(self, cursor):
        """What users do not write: deleted and special members, and what the library needs of a class."""
        tokens = self.tokens(cursor)
        if cursor.spelling.startswith("~") or cursor.spelling in self.machinery or cursor.spelling == "operator=":
            return True
        if cursor.semantic_parent.spelling.endswith("Options") and cursor.spelling in ("check", "each"):
            return True
        return "delete" in tokens[-2:] or cursor.kind == self.kinds.CONSTRUCTOR and (cursor.is_copy_constructor() or cursor.is_move_constructor())

    def visit_class(self, cursor, header):
        name = self.scope(cursor) + "::" + cursor.spelling
        entry = {"header": header, "doc": comment_of(cursor), "bases": [], "fields": [], "constructors": [], "methods": []}
        self.classes[name] = entry
        for child in cursor.get_children():
            if child.kind == self.kinds.CXX_BASE_SPECIFIER:
                entry["bases"].append(joined(self.tokens(child)).removeprefix("public "))
            if child.access_specifier != self.public:
                continue
            if child.kind == self.kinds.FIELD_DECL and child.spelling:
                entry["fields"].append(self.field(child) | {"doc": comment_of(child)})
            elif child.kind in (self.kinds.CXX_METHOD, self.kinds.FUNCTION_TEMPLATE, self.kinds.CONVERSION_FUNCTION, self.kinds.CONSTRUCTOR):
                if self.unwanted(child):
                    continue
                method = self.function(child)
                if child.kind == self.kinds.CONSTRUCTOR or child.spelling == cursor.spelling:
                    method.pop("returns")
                    entry["constructors"].append(method)
                    continue
                if child.is_static_method():
                    method["static"] = True
                if child.is_const_method():
                    method["const"] = True
                entry["methods"].append(method)
            else:
                self.declaration(child, header)
        for part in ("bases", "fields", "constructors", "methods"):
            if not entry[part]:
                del entry[part]

    def declaration(self, cursor, header):
        if cursor.kind in (self.kinds.FUNCTION_DECL, self.kinds.FUNCTION_TEMPLATE):
            # A definition outside its class, or one that repeats a declaration, says nothing new.
            if cursor.semantic_parent == cursor.lexical_parent and cursor.canonical == cursor and not self.unwanted(cursor):
                self.functions.append({"namespace": self.scope(cursor), "header": header} | self.function(cursor))
        elif cursor.kind in (self.kinds.STRUCT_DECL, self.kinds.CLASS_DECL, self.kinds.CLASS_TEMPLATE):
            if cursor.is_definition() and cursor.spelling and cursor.spelling not in self.machinery:
                self.visit_class(cursor, header)
        elif cursor.kind == self.kinds.ENUM_DECL and cursor.spelling:
            values = [{"name": v.spelling, "value": v.enum_value, "doc": comment_of(v)} for v in cursor.get_children() if v.kind == self.kinds.ENUM_CONSTANT_DECL]
            self.enums[self.scope(cursor) + "::" + cursor.spelling] = {"header": header, "doc": comment_of(cursor), "values": values}
        elif cursor.kind == self.kinds.VAR_DECL and "constexpr" in self.tokens(cursor):
            self.constants.append({"namespace": self.scope(cursor), "header": header, "name": cursor.spelling, "type": cursor.type.spelling.removeprefix("const "),
                                   "doc": comment_of(cursor)})

    def namespace(self, cursor):
        for child in cursor.get_children():
            if child.kind == self.kinds.NAMESPACE:
                if child.spelling and child.spelling not in INTERNAL_NAMESPACES:
                    self.namespace(child)
                continue
            header = self.header(child)
            if header is not None and self.scope(child).split("::")[0] == "tandem":
                self.declaration(child, header)

    def text(self):
        """An entry a line, in an order that does not depend on who includes what, so that a change is seen as what it is."""
        def line(entry):
            return json.dumps(entry, ensure_ascii=False)
        order = sorted(range(len(self.functions)), key=lambda i: (self.functions[i]["namespace"], self.functions[i]["header"], i))
        constants = sorted(self.constants, key=lambda c: (c["namespace"], c["header"]))
        parts = {"functions": "[\n" + ",\n".join(line(self.functions[i]) for i in order) + "\n]",
                 "classes": "{\n" + ",\n".join(self.class_text(name, self.classes[name]) for name in sorted(self.classes)) + "\n}",
                 "enums": "{\n" + ",\n".join(f"{line(name)}: {line(self.enums[name])}" for name in sorted(self.enums)) + "\n}",
                 "constants": "[\n" + ",\n".join(line(c) for c in constants) + "\n]"}
        return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "\n}\n"

    @staticmethod
    def class_text(name, entry):
        parts = []
        for key, value in entry.items():
            if isinstance(value, list) and key != "bases":
                parts.append(f"  {json.dumps(key)}: [\n" + ",\n".join("    " + json.dumps(v, ensure_ascii=False) for v in value) + "\n  ]")
            else:
                parts.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
        return json.dumps(name) + ": {\n" + ",\n".join(parts) + "\n}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("generated", help="the folder of headers that a build writes: build/release/generated")
    parser.add_argument("--check", action="store_true", help="only say whether api.json is what the headers say now")
    parser.add_argument("--out", type=pathlib.Path, default=API, help="where it is written to")
    options = parser.parse_args()
    if not pathlib.Path(options.generated, "ops/pointwise.h").exists():
        parser.error(f"{options.generated} has no ops/pointwise.h: build first (./dev build)")
    cindex = libclang()
    if cindex is None:
        print("scan: there is no libclang for Python here: apt-get install python3-clang-14", file=sys.stderr)
        return 77
    scan = Scan(cindex, options.generated)
    text = scan.text()
    methods = sum(len(c.get("methods", [])) for c in scan.classes.values())
    said = f"{len(scan.functions)} functions, {len(scan.classes)} classes with {methods} methods, {len(scan.enums)} enums, {len(scan.constants)} constants"
    if options.check:
        if not API.exists() or API.read_text() != text:
            print(f"{API.relative_to(ROOT)} is not what the headers say now: python/generate/scan.py {options.generated} writes it anew", file=sys.stderr)
            return 1
        print(f"api.json is fresh: {said}")
        return 0
    options.out.write_text(text)
    print(f"{options.out}: {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
