"""Reads the code cells of the five texts: what a reader of each would type, and what the text says it prints."""

import ast
import io
import json
import re
import tokenize
from dataclasses import dataclass


@dataclass
class Cell:
    """Code, and the text's output; None where the text shows none."""

    code: str
    output: str | None = None


def notebook(text):
    """A notebook's JSON, of which a web page has put bars between the lines."""
    lines = [line for line in text.split("\n") if line.strip() not in ("|", "||")]
    document = "\n".join(lines)
    read, _ = json.JSONDecoder().raw_decode(document[document.index("{") :])
    cells = []
    for cell in read["cells"]:
        if cell["cell_type"] == "code":
            shown = ["".join(output.get("text", []) or output["data"]["text/plain"]) for output in cell["outputs"]]
            cells.append(Cell(indented("".join(cell["source"])), "".join(shown) or None))
    return cells


def indented(code):
    """Code whose indents have shrunk to one space each, as it was: a line after a colon is one level deeper, one after a return is not."""
    depth, lines = 0, []
    before = ""
    for line in code.split("\n"):
        if not line.startswith(" "):
            depth = 0
        elif before.endswith(":"):
            depth += 1
        elif before.startswith("return"):
            depth -= 1
        lines.append("    " * depth + line.strip())
        before = line.partition(" #")[0].strip() or before
    return "\n".join(lines)


def _is_python(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _ends_in_expression(block):
    body = ast.parse(block).body
    return bool(body) and isinstance(body[-1], ast.Expr)


def numbered(text):
    """Cells that follow a line `In [7]:`.

    The code goes to its first expression that stands alone, or as far as the text is Python; then follows the output.
    """
    cells = []
    for part in re.split(r"^In \[.*?\]:\n", text, flags=re.M)[1:]:
        if part.startswith("!"):
            command, _, rest = part.partition("\n\n")
            cells.append(Cell(command.strip(), rest if "+---" in rest else None))
            continue
        code, blocks = [], re.split(r"\n\n+", part.strip("\n"))
        while blocks and _is_python(blocks[0]):
            code.append(blocks.pop(0))
            if _ends_in_expression(code[-1]):
                break
        shown = bool(blocks) and _ends_in_expression(code[-1])
        cells.append(Cell("\n\n".join(code), blocks[0] if shown else None))
    return cells


def article(text):
    """The blocks of an article that are Python or a command; the block after a line that announces it is the output, or a comment is."""
    cells, announced = [], False
    for block in re.split(r"\n\s*\n", text):
        block = block.strip("\n")
        if announced:
            cells[-1].output, announced = block, False
        elif block in ("输出:", "会报错:"):
            announced = True
        elif block.startswith("!") or (_is_python(block) and _names_are_ascii(block)):
            said = re.search(r"# 输出 (.*)$", block)
            cells.append(Cell(block, said and said.group(1)))
    return cells


def _names_are_ascii(block):
    tokens = list(tokenize.generate_tokens(io.StringIO(block).readline))
    return all(token.string.isascii() for token in tokens if token.type == tokenize.NAME) and any(
        token.type == tokenize.NAME for token in tokens
    )
