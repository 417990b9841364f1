"""The public headers as Doxygen reads them best: headers.py INCLUDE OUT.

INCLUDE holds the installed headers (tandem/tandem.h and what it includes); OUT gets a copy of those that users meet, line for line:
  - a comment of `//` behind a member, or above it, becomes Doxygen's;
  - a declaration without a comment that stands in a group gets the group's: an overload of the one before, one of its family
    (conv1d, conv2d), a name that the comment mentions, or the form in place (`relu_`) of a documented one; a method of Tensor gets that of the free function;
  - a constructor without a comment gets its class's; a struct of options says what takes it;
  - left out is what users do not write: `[[nodiscard]]`, the last parameter, of type Site, special members, friends, instantiations of
    templates, private members, overrides and protected members without a comment, what is "for the library", and members' definitions outside of
    their class;
  - the methods that are made from kernels/pointwise.def stand in class Tensor.
"""

import pathlib
import re
import shutil
import sys

# Of what tandem.h includes, the machinery that users never name.
INTERNAL = {
    "autograd/node.h", "base/lazy.h", "base/ref.h", "base/small_mutex.h", "base/splitmix.h", "base/untrusted.h", "optim/fused_fwd.h", "optim/stepped.h",
    "process/codec.h", "process/deadline.h", "process/robust_mutex.h", "process/shared_object.h", "process/signature.h", "runtime/observer.h",
    "runtime/shared_memory.h", "runtime/work_times.h", "tensor/storage.h", "tensor/tensor_impl.h", "nn/copier.h",
}
# What a class has for the C++ library's sake, and templates that are given for a type of ours.
MACHINERY = {"each_tensor", "Iterator", "value_type", "const_iterator", "iterator_category", "difference_type", "pointer", "reference", "append_text"}
# A member of a class where it is defined: `Tensor::accessor(`.
OUTSIDE = re.compile(r"^[^=(]*\b[A-Z]\w*(?:<[^<>]*>)?::~?\w+\(")
SPECIALIZATION = re.compile(r"template <[^;{]*> (?:requires .*)?struct [\w:]+<")
WORDS = {"requires", "noexcept", "explicit", "alignas", "decltype", "if", "for", "while", "return", "switch", "sizeof", "static_assert", "auto"}
TYPE = re.compile(r"^(?:extern )?(?:template ?<.*> ?)?(?:requires .*)?(struct|class|union|enum(?: class)?|concept|namespace)\b\s*([\w:]*)")


def reachable(include):
    found, queue = [], ["tandem.h", "distributions/distributions.h"]
    while queue:
        name = queue.pop(0)
        if name not in found:
            found.append(name)
            queue += re.findall(r'#include "tandem/([^"]+)"', (include / "tandem" / name).read_text())
    return found


def name_of(declaration):
    """The name that a declaration of a function or variable declares, and whether it is a function."""
    text = re.sub(r"^(?:\s*template\s*<.*?>\s*(?=[\w:\[~]))", "", declaration, count=1)
    text = re.sub(r"^\s*requires .*?(?=\b(?:void|auto|explicit|static|\[\[))", "", text)
    match = re.search(r"operator\s*(\(\)|\[\]|[^\s(]+|\s\w+)\s*\(", text)
    if match:
        return "operator" + match.group(1).strip(), True
    match = next((m for m in re.finditer(r"(~?\w+)\s*\(", text.split("=")[0]) if m.group(1) not in WORDS), None)
    if match:
        return match.group(1), True
    match = re.search(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:=|;|\{|$)", text)
    return (match.group(1) if match else ""), False


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def is_special(declaration, name, scope):
    """Destructors, copies, deleted functions, those that hold for the library alone."""
    return (name.startswith("~") or name in MACHINERY or declaration.startswith(("friend ", "extern template")) or "= delete" in declaration or name == "operator="
            or name == scope and re.search(r"\((const \w+&|\w+&&|)\)( noexcept)? = default", declaration)
            or scope.endswith("Options") and name in ("check", "each"))


def opens_and_closes(code):
    """Whether a line holds a whole body; braces between parentheses are values."""
    while code != (outside := re.sub(r"\([^()]*\)", "", code)):
        code = outside
    return "{" in code and code.count("{") == code.count("}")


def statement(lines, start):
    """The lines of a declaration that begins at `start`, up to its `;` or `{`: the end (one past)."""
    depth = 0
    for i in range(start, min(start + 40, len(lines))):
        code = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', '""', lines[i].split("//")[0]).rstrip()
        depth += code.count("(") - code.count(")")
        if depth == 0 and (code.endswith((";", "{", "}", ",")) or opens_and_closes(code)):
            return i + 1
    return start + 1


class Header:
    def __init__(self, text, functions, classes):
        self.lines, self.functions, self.classes = text.split("\n"), functions, classes
        self.out = list(self.lines)

    def mark(self, line, comment):
        """Puts a comment before what stands on the line, without a line more."""
        indent = re.match(r"\s*", self.out[line]).group()
        self.out[line] = f"{indent}/** {comment} */ {self.out[line].lstrip()}"

    def drop(self, start, stop):
        """Leaves lines empty, and the comment above them."""
        while self.lines[start - 1].strip().startswith("///"):
            start -= 1
        for at in range(start, min(stop, len(self.out))):
            self.out[at] = ""

    def members(self, i, indent, scope, about=""):
        """Goes through declarations of one scope, from line i to the one that closes it, whose number it gives."""
        group, group_names, comment, section = [], {}, [], False
        access = "public:"
        while i < len(self.lines):
            line = self.lines[i]
            text = line.strip()
            if not text:
                group, group_names, comment = [], {}, []
            elif text.startswith("}") and len(line) - len(line.lstrip()) < max(indent, 1):
                if section:
                    self.out[i] = "/**@}*/ " + line
                return i
            elif text.startswith(("public:", "protected:", "private:")):
                if section:
                    self.out[i], section = "/**@}*/ " + line, False
                access = text.split()[0]
                group, group_names, comment = [], {}, []
            elif text.startswith("// --- "):
                title = text[7:].split(". ")[0].split(" (")[0].rstrip(".: ")
                # A title that runs over several lines is a remark.
                self.out[i] = line.replace(text, ("/**@}*/ " if section else "") + f"/** @name {title} */ /**@{{*/")
                section, comment = True, []
            elif text.startswith("//"):
                if text.startswith("///"):
                    comment.append(text[3:].strip())
                elif not comment and not self.lines[i - 1].strip().startswith("// "):
                    comment = []
            elif text.startswith(("#", "using namespace", "static_assert")):
                comment = []
            else:
                start, i = i, self.declaration(i, scope, about, group, group_names, comment, access)
                if access == "private:":
                    self.drop(start, i)
                comment = []
                continue
            i += 1
        return i

    def declaration(self, i, scope, about, group, group_names, comment, access):
        line = self.lines[i]
        indent = len(line) - len(line.lstrip())
        start, end = i, statement(self.lines, i)
        while re.match(r"\s*(template\s*<.*>|requires .*[^;{}])$", self.lines[end - 1].rstrip()) and end < len(self.lines):
            end = statement(self.lines, end)
        declared = " ".join(part.split("//")[0].strip() for part in self.lines[start:end])
        kind = TYPE.match(re.sub(r"^template\s*<[^;{]*?>\s*(?=struct|class|union|concept)", "", declared))
        opens = declared.rstrip().endswith("{")
        if kind and kind.group(1) == "namespace":
            if opens and kind.group(2) not in ("detail",):
                return self.members(end, 0, "") + 1
            return self.skip(end, indent) if opens else end
        if kind and kind.group(1).startswith("enum"):
            self.behind(start, self.skip(end, indent) if opens else end)
            if comment:
                group.append(" ".join(comment))
            return self.skip(end, indent) if opens else end
        if kind and kind.group(1) != "concept" and not declared.startswith("extern"):
            name = kind.group(2).split("::")[-1]
            if name in MACHINERY or SPECIALIZATION.match(declared):
                stop = self.skip(end, indent) if opens else end
                self.drop(start, stop)
                return stop
            text = " ".join(comment)
            if not text and name.endswith("Options"):
                text = self.options_of(name)
                if text and access == "public:":
                    self.mark(start, text)
            if text:
                group.append(text)
            if opens and access == "public:":
                return self.members(end, indent + 2, name, text) + 1
            return self.skip(end, indent) if opens else end
        alias = re.match(r"using (\w+) =", declared)
        name, is_function = (kind.group(2), False) if kind else (alias.group(1), False) if alias else name_of(declared)
        if scope and re.search(rf"^(?:explicit |constexpr |.*\brequires .*|template .*> ?){scope}\(", declared):
            name, is_function = scope, True
        stop = self.skip(end, indent) if opens else end
        said = comment or group[-1:]
        for_library = scope and re.search(r"\bTensorImpl\b", declared) or said and said[0].startswith("For the library")
        if for_library and comment:
            group.append(" ".join(comment))
        if name in MACHINERY or for_library or is_function and (is_special(declared, name, scope) or not scope and OUTSIDE.match(declared)):
            self.drop(start, stop)
            return stop
        self.behind(start, stop if not is_function else end)
        if access == "private:":
            return stop
        if comment:
            text = " ".join(comment)
            group.append(text)
            group_names[name] = text
            if is_function and not scope:
                self.functions[name] = self.functions.get(name) or text
        elif is_function and "///<" not in "".join(self.out[start:end]):
            found = self.inherited(name, scope, about, group, group_names)
            if re.search(r"\boverride\b", declared) or access == "protected:":
                self.drop(start, stop)
            elif found:
                self.mark(start, found.replace("*/", "* /"))
                group_names[name] = found
                if not scope:
                    self.functions[name] = self.functions.get(name) or found
        return stop

    def options_of(self, name):
        """What a struct of options says of itself: who takes it, as far as names tell."""
        plain = name.removesuffix("Options")
        takers = [f"{f}()" for f in (snake(plain), snake(plain.removesuffix("Loss"))) if f in self.functions]
        takers += sorted({c for c in self.classes if re.fullmatch(rf"(?:Lazy)?{plain}(?:Loss|\d[dD]|Of)?", c)} | {c for c in (plain + "LR",) if c in self.classes})
        return "%Options of " + ", ".join(dict.fromkeys(takers)) + ", in this order." if takers else ""

    def inherited(self, name, scope, about, group, group_names):
        if scope and name in (scope, "operator()", "forward"):
            return about
        def family(other):  # conv1d and conv2d, operators, forms that also give indices
            return "operator" if other.startswith("operator") else re.sub(r"\d", "", other).removesuffix("_with_indices")

        for other in reversed(group_names):
            if family(other) == family(name):
                return group_names[other]
        mentioned = next((text for text in reversed(group) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)), None)
        if mentioned:
            return mentioned
        plain = name.removesuffix("_")
        if name != plain and plain in group_names:
            return "In place: " + group_names[plain]
        if scope == "Tensor":
            if self.functions.get(name):
                return self.functions[name]
            if self.functions.get(plain):
                return "In place: " + self.functions[plain]
        return None

    def skip(self, i, indent):
        """Past a body: to one past the line that closes it, at its own indent."""
        while i < len(self.lines) and not (self.lines[i].startswith(" " * indent + "}") and not self.lines[i].startswith(" " * (indent + 1))):
            i += 1
        return i + 1

    def behind(self, start, stop):
        """`int a = 1;  // why` becomes `///<`, and so do the lines that continue it."""
        column = None
        for at in range(start, min(stop, len(self.lines))):
            match = re.match(r"(.*?\S\s*)// (.*)$", self.lines[at])
            if match and "///" not in self.lines[at]:
                self.out[at] = f"{match.group(1)}///< {match.group(2)}"
                column = len(match.group(1))
        at = stop
        while column and at < len(self.lines) and re.match(rf"\s{{{column}}}// ", self.lines[at]):
            self.out[at] = self.lines[at].replace("// ", "///< ", 1)
            at += 1

    def text(self):
        text = "\n".join(self.out)
        text = text.replace("[[nodiscard]] ", "")
        text = re.sub(r"(,\s*|(?<=\())Site(?: site)?(?: = Site::(?:here|of_call)\(\))?(?=\))", "", text)
        return text


def main():
    include, out = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(out, ignore_errors=True)
    functions, classes = {}, set()
    names = [name for name in reachable(include) if name not in INTERNAL and not name.startswith("kernels/") and name.endswith(".h")]
    for name in names:
        text = (include / "tandem" / name).read_text()
        classes |= set(re.findall(r"^(?:struct|class) (\w+)(?: final)?(?: :|\s*\{)", text, re.M)) | set(re.findall(r"^using (\w+) =", text, re.M))
        functions |= dict.fromkeys(re.findall(r"^\[\[nodiscard\]\] \w+ (\w+)\(", text, re.M), "")
    # Free functions first: methods of Tensor take their comments from them.
    for name in sorted(names, key=lambda name: (name == "tensor/tensor.h", names.index(name))):
        text = (include / "tandem" / name).read_text()
        methods = re.search(r'^#include "tandem/(tensor/pointwise_methods.inc)"', text, re.M)
        if methods:
            body = (include / "tandem" / methods.group(1)).read_text()
            text = text.replace(methods.group(0), re.sub(r"^(?=.)", "  ", body, flags=re.M).rstrip())
        header = Header(text, functions, classes)
        header.members(0, 0, "")
        (out / "tandem" / name).parent.mkdir(parents=True, exist_ok=True)
        (out / "tandem" / name).write_text(header.text())


if __name__ == "__main__":
    main()
