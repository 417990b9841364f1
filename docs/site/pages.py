"""The pages and notebooks of docs/ as Doxygen reads them: pages.py ROOT OUT.

Every heading gets the label that GitHub would give it, and links between pages lead to these, inside the site. What a page names outside docs/ stays
text. Characters that mean something to Doxygen and nothing to a reader of Markdown are escaped.
"""

import html
import json
import pathlib
import re
import shutil
import sys

root, out = (pathlib.Path(path).resolve() for path in sys.argv[1:])
docs = root / "docs"


def label(page):
    name = page.relative_to(docs).with_suffix("").as_posix()
    return re.sub(r"\W", "_", name if "/" in name else "page_" + name)


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def link(match, page):
    text, target = match.groups()
    if "://" in target:
        return match.group(0)
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if file.suffix in (".md", ".ipynb") and file.is_relative_to(docs):
        return f"[{text}](@ref {label(file)}{'_' + slug(anchor) if anchor else ''})"
    return text


def plain(text, page):
    """A piece of text without code."""
    text = re.sub(r"!\[([^\]]*)\]\((?:\S*/)?([^/)\s]+)\)", r"![\1](\2)", text)
    text = re.sub(r"(?<!!)\[([^\[\]]*(?:\[[^\]]*\][^\[\]]*)?)\]\(([^)\s]+)\)", lambda match: link(match, page), text)
    return re.sub(r"(?<![\w/])([@\\])(?!ref )(?=\w)", r"\\\1", re.sub(r"<(?=[\w/])", r"\\<", text))


def notebook(page):
    """A notebook as a page: code, and what it showed."""
    parts = []
    for cell in json.loads(page.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        shown = "\n".join(text.rstrip("\n") for text in map(output_text, cell["outputs"]))
        parts.append(f"```python\n{source}\n```" + (f"\n```\n{shown}\n```" if shown else ""))
    return "\n\n".join(parts)


def output_text(output):
    """The text of a cell's output, or of its page where that is a text, too."""
    data = output.get("data", {})
    text = re.fullmatch(r"<pre\b[^>]*>(.*)</pre>", "".join(data.get("text/html", "")), re.S)
    return html.unescape(text[1]) if text else "".join(output.get("text", data.get("text/plain", "")))


def converted(page):
    result, fenced = [], False
    # A link may run over the end of a line: paragraphs are joined.
    source = re.sub(r"(\[[^\]\n]*)\n\s*([^\]\n]*\]\([^)\s]+\))", r"\1 \2", notebook(page) if page.suffix == ".ipynb" else page.read_text())
    for line in source.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
            kind = line[3:].strip()
            result.append("```" + ({"cpp": "{.cpp}", "sh": "{.sh}", "python": "{.py}"}.get(kind, "{.unparsed}") if fenced else ""))
            continue
        heading = re.match(r"(#+) (.*)", line)
        if fenced:
            result.append(line)
        elif heading:
            name = label(page) if len(heading[1]) == 1 else f"{label(page)}_{slug(heading[2])}"
            result.append(f"{heading[1]} {heading[2].replace('`', '')} {{#{name}}}")
            if len(heading[1]) == 1 and "guide" in page.parts:
                result.append("\n[TOC]")
        else:
            codes = re.findall(r"`[^`]*`", line)
            text = plain(re.sub(r"`[^`]*`", "\x01", line), page)
            result.append(re.sub("\x01", lambda _: codes.pop(0), text))
    return "\n".join(result)


shutil.rmtree(out, ignore_errors=True)
for page in sorted([*docs.rglob("*.md"), *docs.rglob("*.ipynb")]):
    target = (out / page.relative_to(docs)).with_suffix(".md")
    if page.parent == docs / "site":
        target = out / page.name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(converted(page))
shutil.copytree(docs / "images", out / "images", ignore=lambda _, names: [name for name in names if not name.endswith((".png", ".svg"))])
shutil.copy(docs / "site/namespaces.dox", out / "namespaces.dox")
