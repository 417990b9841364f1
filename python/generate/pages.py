#!/usr/bin/env python3
"""The reference of tandem for Python: pages.py FOLDER writes a page for each public module beside the site's pages, and lists them there

It asks the running package, so PYTHONPATH must find tandem; signatures of the extension's functions come from the stubs.
docs/site/build calls it.
"""

import ast
import importlib
import inspect
import pathlib
import re
import sys
import types
from html import escape

import signatures
from signatures import STUBS
from words import docs

# What the start page lists, and in which order; a class that has a page of its own stands beside the modules.
PARTS = {
    "Tensors": [
        "tandem", "tandem.Tensor", "tandem.linalg", "tandem.special", "tandem.random", "tandem.quasirandom", "tandem.distributions",
        "tandem.signal.windows", "tandem.array_api",
    ],
    "Networks": [
        "tandem.nn", "tandem.nn.functional", "tandem.nn.init", "tandem.nn.parameter", "tandem.nn.attention",
        "tandem.nn.attention.flex_attention", "tandem.nn.utils",
        "tandem.nn.utils.rnn", "tandem.nn.utils.parametrize", "tandem.nn.utils.parametrizations", "tandem.nn.utils.prune",
        "tandem.nn.utils.stateless",
    ],
    "Gradients and training": [
        "tandem.autograd", "tandem.autograd.forward_ad", "tandem.autograd.function", "tandem.autograd.functional", "tandem.autograd.graph",
        "tandem.optim", "tandem.optim.lr_scheduler", "tandem.optim.swa_utils", "tandem.amp", "tandem.train", "tandem.utils.checkpoint",
        "tandem.library",
    ],
    "Data": [
        "tandem.utils.data", "tandem.utils.data.distributed", "tandem.utils.tensorboard",
    ],
    "GPUs": [
        "tandem.cuda", "tandem.cuda.memory", "tandem.cuda.amp", "tandem.cuda.nvtx", "tandem.accelerator", "tandem.backends", "tandem.cpu",
    ],
    "Several GPUs and processes": [
        "tandem.nn.parallel", "tandem.distributed", "tandem.distributed.fsdp", "tandem.distributed.checkpoint",
        "tandem.distributed.checkpoint.state_dict", "tandem.distributed.optim", "tandem.distributed.pipelining", "tandem.distributed.tensor",
        "tandem.distributed.tensor.parallel", "tandem.distributed.run", "tandem.multiprocessing",
    ],
    "Seeing what a program does": [
        "tandem.ledger", "tandem.races", "tandem.profiler", "tandem.fx", "tandem.utils.flop_counter", "tandem.utils.benchmark",
        "tandem.testing",
    ],
    "Programs of PyTorch's": [
        "tandem.torch_compat",
    ],
}  # fmt: skip
MARK = "<!-- modules -->"
ORDINARY = {"forward", "extra_repr", "reset_parameters", "setup_context"}  # every layer has them: its class says what it does
LEGACY = re.compile(r"\w+Tensor$")


class Entry:
    """A name of a page: its signatures as HTML, its doc, and for a class its members."""

    def __init__(self, name, kind, heads, doc, members=()):
        self.name, self.kind, self.heads, self.doc, self.members = name, kind, heads, (doc or "").strip(), list(members)


def load(path):
    """The module or class of a dotted name; None where the package does not have it."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        owner, _, name = path.rpartition(".")
        return getattr(importlib.import_module(owner), name, None) if owner else None


def is_own(module, name, value):
    """Whether a name that a module has belongs to it, and is not there only because the module uses it."""
    if name.startswith("_") or isinstance(value, types.ModuleType):
        return False
    listed = getattr(module, "__all__", None)
    if listed is not None and module.__name__ != "tandem":
        return name in listed
    home = getattr(value, "__module__", None)
    if not callable(value):
        return module.__name__ == "tandem" or (name.isupper() and home is None)
    if home is None or home == "tandem._C" or inspect.isbuiltin(value):
        return True
    return (home + ".").startswith(module.__name__ + ".") or (module.__name__ == "tandem.nn" and home.startswith("tandem.nn"))


def entries_of(module):
    """The names of a module, classes first."""
    names = [name for name in dir(module) if is_own(module, name, getattr(module, name, None))]
    found = [entry_of(module, name, getattr(module, name)) for name in names]
    return sorted(found, key=lambda entry: (("class", "function", "constant").index(entry.kind), entry.name.lower(), entry.name))


def entry_of(module, name, value):
    stub = STUBS.of(module.__name__, name, value)
    if isinstance(value, type):
        if isinstance(stub, ast.ClassDef):
            return class_of_stub(name, stub)
        return class_of(name, value)
    if not callable(value):
        return Entry(name, "constant", [], constant(value))
    if stub:
        return Entry(name, "function", signatures.of_stub(name, stub), next(filter(None, map(ast.get_docstring, stub)), None))
    return Entry(name, "function", signatures.of_object(name, value), told(value))


def told(value):
    """The doc of what is written in Python, or in the extension, where it begins with the signature."""
    lines = (inspect.getdoc(value) or "").split("\n")
    return docs("\n".join(lines[1:] if signatures.is_signature(lines[0]) else lines).strip())


def constant(value):
    """What a page says of a constant."""
    if value is None:
        return "None"
    text = repr(value)
    return f"`{text}`" if len(text) < 60 and " at 0x" not in text else type(value).__name__


def class_of(name, value):
    """A class that is written in Python, or one of the extension's without a stub."""
    doc = value.__doc__ if "__doc__" in vars(value) else ""
    if LEGACY.match(name) and not doc:
        doc = f"Tensors of one dtype, as they were made once: `{name}([1, 2])` of numbers, `{name}(2, 3)` of sizes; for isinstance, too."
    if issubclass(value, BaseException) or LEGACY.match(name):
        heads = [signatures.plain(name)]
    else:
        heads = signatures.of_object(name, value)
    members = []
    for base in reversed([base for base in value.__mro__ if base is value or base.__name__.startswith("_")]):
        for member, what in vars(base).items():
            text = (
                inspect.getdoc(getattr(what, "fget", what))
                if not isinstance(what, (staticmethod, classmethod))
                else inspect.getdoc(what.__func__)
            )
            if member.startswith("_") or member in ORDINARY or not text or isinstance(what, type) or not is_described(what):
                continue
            if isinstance(what, property) or inspect.isgetsetdescriptor(what):
                members.append(Entry(member, "attribute", [signatures.plain(member)], told(what)))
            else:
                function = what.__func__ if isinstance(what, (staticmethod, classmethod)) else what
                heads_of_member = signatures.of_object(member, function, bound=not isinstance(what, staticmethod))
                members.append(Entry(member, "method", heads_of_member, told(function)))
    return Entry(name, "class", heads, docs(inspect.cleandoc(doc or "")), {member.name: member for member in members}.values())


def is_described(what):
    """Whether a member's doc is its own: an ordinary value has its class's."""
    return callable(what) or isinstance(what, (property, staticmethod, classmethod)) or inspect.isgetsetdescriptor(what)


def class_of_stub(name, stub):
    """A class of the extension, by its stub."""
    made, members = [], {}
    for node in stub.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            made.append(node)
        elif isinstance(node, (ast.FunctionDef, ast.AnnAssign)):
            member = node.name if isinstance(node, ast.FunctionDef) else node.target.id
            if not member.startswith("_"):
                members.setdefault(member, []).append(node)
    heads = signatures.of_stub(name, made, bound=True) if made else [signatures.plain(name)]
    return Entry(
        name, "class", heads, ast.get_docstring(stub), (member_of_stub(member, nodes) for member, nodes in sorted(members.items()))
    )


def member_of_stub(name, nodes):
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    if not functions or any(getattr(decorator, "id", "") == "property" for decorator in functions[0].decorator_list):
        kind = functions[0].returns if functions else nodes[0].annotation
        return Entry(name, "attribute", [signatures.plain(name, kind)], functions and ast.get_docstring(functions[0]))
    return Entry(
        name, "method", signatures.of_stub(name, functions, bound=True), next(filter(None, map(ast.get_docstring, functions)), None)
    )


# --- HTML


class Page:
    """A module's page, or that of a class which has many members."""

    def __init__(self, path):
        self.path, self.thing = path, load(path)
        self.label = "python_" + path.replace(".", "_")
        self.file = self.label + ".html"
        self.doc = docs(inspect.cleandoc(self.thing.__doc__ or "")) if self.thing is not None else ""
        if isinstance(self.thing, type):
            owner, _, name = path.rpartition(".")
            entry = entry_of(importlib.import_module(owner), name, self.thing)
            self.doc, self.entries = entry.doc, entry.members
        else:
            self.entries = entries_of(self.thing) if self.thing is not None else []

    def anchor(self, name):
        return f"{self.path}.{name}"

    def text(self, places):
        index = " ".join(f'<a href="#{self.anchor(entry.name)}">{entry.name}</a>' for entry in self.entries)
        body = "\n".join(self.entry(entry, places) for entry in self.entries)
        introduction = rich(self.doc, self, places)
        count = len(self.entries)
        opened = " open" if count < 200 else ""
        names = f'<details{opened}><summary>{count} names</summary><p class="py-index">{index}</p></details>' if count > 3 else ""
        return f"# {self.path} {{#{self.label}}}\n\n@htmlonly[block]\n{introduction}\n{names}\n{body}\n@endhtmlonly\n"

    def entry(self, entry, places):
        prefix = self.path.removeprefix("tandem").removeprefix(".")
        path = f'<span class="py-path">{prefix}.</span>' if prefix else ""
        kind = "" if entry.kind in ("function", "method") else f'<span class="py-kind">{entry.kind}</span> '
        heads = "".join(f'<code class="py-head">{kind}{path}{head}</code>' for head in entry.heads or [signatures.plain(entry.name)])
        members = "".join(
            f'<dt id="{self.anchor(entry.name)}.{member.name}"><code>{"<br>".join(member.heads)}</code></dt>'
            f"<dd>{rich(member.doc, self, places)}</dd>"
            for member in entry.members
        )
        if places.get(self.anchor(entry.name), (self,))[0] is not self:
            page = places[self.anchor(entry.name)][0]
            members = f'<dt><a href="{page.file}">Its methods and attributes</a></dt>'
        listed = f"<dl>{members}</dl>" if members else ""
        return f'<div class="py" id="{self.anchor(entry.name)}">{heads}{rich(entry.doc, self, places)}{listed}</div>'


def rich(text, page, places):
    """A doc as HTML: paragraphs, lists, indented code, `code` with a link where it is a name of the package."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.split("\n")
        if not block.strip():
            continue
        if all(line.startswith("    ") or not line for line in lines):
            blocks.append(f"<pre>{escape(inspect.cleandoc(block))}</pre>")
        elif all(re.match(r"- |  ", line) for line in lines):
            items = re.split(r"^- ", block, flags=re.M)[1:]
            blocks.append("<ul>" + "".join(f"<li>{inline(item, page, places)}</li>" for item in items) + "</ul>")
        else:
            blocks.append(f"<p>{inline(block, page, places)}</p>")
    return "".join(blocks)


def inline(text, page, places):
    def code(found):
        name = found[1].split("(")[0]
        for path in (re.sub(r"^torch\b", "tandem", name), page.anchor(name), "tandem." + name):
            if path in places:
                target, anchor = places[path]
                return f'<a href="{"" if target is page else target.file}#{anchor}"><code>{escape(found[1])}</code></a>'
        return f"<code>{escape(found[1])}</code>"

    pieces = re.split(r"(`[^`\n]+`)", text)
    return "".join(re.sub(r"^`(.*)`$", code, piece) if piece.startswith("`") and len(piece) > 2 else escape(piece) for piece in pieces)


def all_names(pages):
    """The page of all names, from A to Z."""
    rows = sorted({(entry.name, page.path, page.file) for page in pages for entry in page.entries}, key=lambda row: (row[0].lower(), row))
    letters = {}
    for name, path, file in rows:
        letters.setdefault(name[0].upper(), []).append(
            f'<a href="{file}#{path}.{name}">{name} <small>{path.removeprefix("tandem").removeprefix(".")}</small></a>'
        )
    body = "\n".join(f'<h3>{letter}</h3><p class="py-index">{" ".join(links)}</p>' for letter, links in letters.items())
    return f"# All names of the Python package {{#python_names}}\n\n@htmlonly[block]\n{body}\n@endhtmlonly\n"


def first_sentence(text):
    """What the list of modules says of one."""
    sentence = re.split(r"(?<=\.)\s", text.split("\n\n")[0].replace("\n", " "))[0]
    sentence = re.sub(r"^(?:import )?(?:tandem|torch)[\w.]*: (?=\w)", "", sentence)
    return (sentence[:1].upper() + sentence[1:]).replace("|", "\\|").replace("<", "\\<").replace("@", "\\@")


def main():
    folder = pathlib.Path(sys.argv[1])
    parts = {title: [page for page in map(Page, paths) if page.entries] for title, paths in PARTS.items()}
    pages = [page for found in parts.values() for page in found]
    places = {page.anchor(entry.name): (page, page.anchor(entry.name)) for page in pages for entry in page.entries}
    for page in pages:
        for entry in page.entries:
            for member in entry.members:
                places.setdefault(f"{page.anchor(entry.name)}.{member.name}", (page, f"{page.anchor(entry.name)}.{member.name}"))
    for page in pages:  # a class with a page of its own
        if isinstance(page.thing, type):
            places[page.path] = (page, f"{page.path}.{page.entries[0].name}")
    (folder / "python").mkdir(exist_ok=True)
    for page in pages:
        (folder / "python" / f"{page.label}.md").write_text(page.text(places))
    (folder / "python" / "python_names.md").write_text(all_names(pages))
    rows = [
        line
        for title, found in parts.items()
        for line in (
            f"\n## {title}\n",
            "| module | names | |\n|---|---:|---|",
            *(f"| @subpage {p.label} | {len(p.entries)} | {first_sentence(p.doc)} |" for p in found),
        )
    ]
    start = folder / "python-reference.md"
    text = start.read_text()
    if MARK not in text:
        sys.exit(f"{start} has no line {MARK}")
    start.write_text(text.replace(MARK, "\n".join([*rows, "\n@subpage python_names\n"])))


if __name__ == "__main__":
    main()
