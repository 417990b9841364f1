"""Every path, link, command and environment variable that a page or a comment names exists: names.py ROOT [PROGRAM].

Paths are those that begin with a folder of the checkout or of src/; `*` stands for anything, and a word in capitals for a name to fill in.
PROGRAM is the program `tandem`, whose --help lists its commands; without it they are not looked at.
"""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1]).resolve()
program = sys.argv[2] if len(sys.argv) > 2 else None
tracked = [p for p in root.rglob("*") if p.is_file() and not {"build", ".git", "runs"} & set(p.relative_to(root).parts[:1])]
pages = [p for p in tracked if p.suffix == ".md" and "results" not in p.parts]
sources = [p for p in tracked if p.suffix in {".h", ".cpp", ".cu", ".cuh", ".def", ".inc", ".cmake", ".py", ".sh"} or p.name in {"dev", "run", "CMakeLists.txt"}]
folders = {p.name for p in root.iterdir() if p.is_dir()} | {p.name for p in (root / "src").iterdir() if p.is_dir()}
written = {"build", "generated", "runs", "ops/pointwise.h", "tensor/pointwise_methods.inc", "base/version.h"}  # made by a build or a run
ENDING = r"(?:h|cpp|cu|cuh|def|inc|py|sh|md|txt|cmake)"
faults = []


def there(path, near):
    """Whether a path means a file or folder: from the root, from src/, or from beside the page."""
    if re.search(r"[A-Z<>…]{2,}|<|\$|\{", path) and not re.search(r"README|LICENSE|CMakeLists|SECURITY|CONTRIBUTING|CHANGELOG", path):
        return True  # a name to fill in
    path = path.rstrip("/").removeprefix("./")
    places = [root, root / "src", root / "tests", near.parent]
    return any(list(place.glob(path)) for place in places if not pathlib.PurePath(path).is_absolute())


def look_at_paths(file, text):
    if file.suffix == ".md":
        tokens = re.findall(r"`([\w.*<>/{}$-]+/[\w.*<>/{}$-]*)`", text)
    else:
        comments = "\n".join(re.findall(r"(?://|#(?!include))[^\n]*", text))
        tokens = re.findall(rf"(?<![\w/.-])((?:\w+/)+[\w*]+\.{ENDING})\b", comments)
    for token in tokens:
        first = token.removeprefix("./").split("/")[0]
        if first in folders and not {first, token} & written and not there(token, file):
            faults.append(f"{file.relative_to(root)}: there is no {token}")


def anchors(page):
    return {re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            for line in page.read_text().splitlines() if line.startswith("#")}


def look_at_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.S | re.M)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            faults.append(f"{page.relative_to(root)}: the link to {target} leads nowhere")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            faults.append(f"{page.relative_to(root)}: {path} has no heading #{anchor}")


def variables():
    """The environment variables that the library, its tests and its scripts read, and the options of its build."""
    known = set()
    for file in sources:
        if file.suffix != ".md" and file != pathlib.Path(__file__).resolve():
            known |= set(re.findall(r"\bTANDEM_[A-Z0-9_]+", file.read_text(errors="replace")))
    return known


def read_by_library():
    found = set()
    for file in sources:
        if file.is_relative_to(root / "src"):
            text = file.read_text(errors="replace")
            found |= set(re.findall(r'(?:environment|environment_flag|getenv)\("([A-Z0-9_]+)"\)', text))
            found |= set(re.findall(r'kVariable = "([A-Z0-9_]+)"', text))
    return found


known, verbs = variables(), set(re.findall(r"^  ([a-z][a-z-]*)(?:\)| \|)", (root / "dev").read_text(), re.M))
commands = None
if program:
    help_text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    commands = set(re.findall(r"^  ([a-z]+) ", help_text, re.M))

for page in pages:
    text = page.read_text()
    look_at_paths(page, text)
    look_at_links(page, text)
    for variable in sorted(set(re.findall(r"\bTANDEM_[A-Z0-9_]+", text)) - known):
        if page.name == "CHANGELOG.md":
            continue  # it names what was
        faults.append(f"{page.relative_to(root)}: nothing reads {variable}")
    for verb in re.findall(r"\./dev ([a-z][a-z-]*)", text):
        if verb not in verbs:
            faults.append(f"{page.relative_to(root)}: ./dev has no verb {verb}")
    if commands is not None:
        for command in re.findall(r"`tandem ([a-z]+)\b", text):
            if command not in commands:
                faults.append(f"{page.relative_to(root)}: tandem has no command {command}")
for source in sources:
    look_at_paths(source, source.read_text(errors="replace"))

listed = (root / "docs/environment.md").read_text()
for variable in sorted(read_by_library()):
    if not re.search(rf"`{variable}[=`]", listed):
        faults.append(f"docs/environment.md: {variable} is missing")

print("\n".join(faults) or f"{len(pages)} pages and {len(sources)} sources name what is there")
sys.exit(1 if faults else 0)
