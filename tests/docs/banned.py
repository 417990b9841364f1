"""Nothing uses the words of banned.txt: banned.py ROOT."""

import pathlib
import re
import shlex
import sys

root = pathlib.Path(sys.argv[1]).resolve()
own = {root / "tests/docs/banned.txt", root / "tests/docs/banned.py"}
ENDINGS = {".h", ".cpp", ".cu", ".cuh", ".def", ".inc", ".c", ".py", ".sh", ".cmake", ".md", ".txt", ".ipynb", ""}
# Recorded by programs: results, inputs of fuzzers and tests, names of PyTorch's operations.
RECORDED = re.compile(r"^(bench/results|tests/fuzz/corpus|tests/golden/(cases|known)|docs/operations\.list)")


def parts(identifier):
    """The words of an identifier, and it: kMaxCards, k, max, cards."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)
    return {identifier, *(word.lower() for word in words)}


def uses(kind, banned, line):
    if kind == "word":
        return any(banned in parts(word) for word in re.findall(r"\w+", line))
    if kind == "text":
        return banned in line
    if kind == "name":
        line = re.sub(r'"(?:[^"\\]|\\.)*"|//.*', "", line)  # its texts and comment
    return re.search(rf"\b{banned}\b" + (r"\(" if kind == "call" else ""), line)


rules, kept = [], set()
for line in (root / "tests/docs/banned.txt").read_text().splitlines():
    if not line or line.startswith("#"):
        continue
    rule, instead = line.split("->")
    kind, first, second = shlex.split(rule)
    if kind == "keep":
        kept.add((first, second))
    else:
        rules.append((kind, first, second.split(","), instead.strip()))

faults, used, files = [], set(), 0
for folder in ("src", "bench", "tests", "docs", "examples"):
    for file in sorted((root / folder).rglob("*")):
        name = str(file.relative_to(root))
        if not file.is_file() or file.suffix not in ENDINGS or file in own or RECORDED.match(name):
            continue
        files += 1
        text = file.read_text(errors="replace")
        for kind, banned, folders, instead in rules:
            if folders != ["*"] and not any(name.startswith(path + "/") for path in folders) or banned.lower() not in text.lower():
                continue
            found = [number for number, line in enumerate(text.splitlines(), 1) if uses(kind, banned, line)]
            if not found:
                continue
            if (name, banned) in kept:
                used.add((name, banned))
                continue
            faults += [f"{name}:{number}: not '{banned}': {instead}" for number in found]
faults += [f"tests/docs/banned.txt: {name} does not use '{word}' any more" for name, word in sorted(kept - used)]
print("\n".join(faults) or f"{files} files use none of {len(rules)} banned words")
sys.exit(bool(faults))
