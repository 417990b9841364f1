"""The C++ of README and of the guides in docs/guide/ compiles and runs, as a user would copy it: guides.py ROOT INCLUDES LIBRARY_FOLDER COMPILER [PAGE].
That of the pages in COMPILED compiles and links; it isn't run: some of it reads files of the user's.

The pieces of a page go on from one another: they are one program, and one that includes tandem again begins another. A piece that has its own `main` is
a program of its own, one for GoogleTest is left out. Each runs in the current folder.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

root, includes, libraries, compiler = sys.argv[1:5]
COMPILED = ["amp", "base", "compile", "data", "distributed", "distributions", "exported", "files", "graphs", "installing", "io", "ledger", "memory", "models", "multiprocessing", "nn", "onnx", "optim", "parallel", "profiler", "races", "smi", "tensor", "train",
            "virtual-gpus"]
# Not there: seeing, whose pieces are lines of programs in examples/seeing (observe/seeing compares them); add-a-back-end, which shows one declaration of src/.
docs = pathlib.Path(root) / "docs"
pages = [docs.parent / "README.md"] + sorted((docs / "guide").glob("*.md")) + [docs / f"{name}.md" for name in COMPILED]
if len(sys.argv) > 5:
    pages = [page for page in pages if page.stem == sys.argv[5]]


def programs(page):
    """The page's programs: {name: text}."""
    whole, parts = [], []
    for piece in re.findall(r"^```cpp\n(.*?)^```", page.read_text(), re.S | re.M):
        if "int main(" in piece:
            whole.append(piece)
        elif "gtest" not in piece:
            if not parts or "#include <tandem/tandem.h>" in piece:
                parts.append(([], []))
            head, body = parts[-1]
            to = body
            for line in piece.splitlines():
                defined = re.match(r"(struct|class) \w+.*\{|(?!if|for|while|else|switch)[\w:]+(<.*>)? \w+\([\w:<>&,= .]*\) \{", line)
                if defined and to is body:
                    to = head  # a function cannot stand in main, nor a type that it uses
                (head if re.match(r"#include|namespace \w+ =", line) else to).append(line)
                if line.startswith("}") or (defined and line.split("//")[0].rstrip().endswith(("}", "};"))):
                    to = body
    name = page.stem if page.parent == docs.parent else str(page.relative_to(docs).with_suffix("")).replace("/", "_")
    found = {f"{name}_main{i}": text for i, text in enumerate(whole)}
    for i, (head, body) in enumerate(parts):
        found[f"{name}_{i}" if i else name] = "\n".join(head + ["int main() {"] + body + ["}", ""])
    return found


def check(name, text):  # name: guide_data, or data of docs/data.md
    """What is wrong, or nothing."""
    pathlib.Path(f"{name}.cpp").write_text(text)
    folders = [option for folder in includes.split(":") for option in ("-I", folder)]
    beside = ["-ltandem_distributions"] if "<tandem/distributions/" in text else []
    command = [compiler, "-std=c++20", "-O0", "-w", *folders, f"{name}.cpp", "-L", libraries, f"-Wl,-rpath,{libraries}", *beside, "-ltandem", "-pthread", "-o", f"./{name}"]
    compiled = subprocess.run(command, capture_output=True, text=True)
    if compiled.returncode:
        return f"{name}.md does not compile:\n{compiled.stderr[:3000]}"
    if not name.startswith(("guide_", "README")):
        return ""
    run = subprocess.run([f"./{name}"], capture_output=True, text=True, timeout=300)
    if run.returncode:
        return f"{name}.md ended with {run.returncode}:\n{run.stdout[-1500:]}{run.stderr[-1500:]}"
    if os.environ.get("SHOW"):
        print(f"== {name}\n{run.stdout}")
    return ""


all_programs = {name: text for page in pages for name, text in programs(page).items()}
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    faults = [fault for fault in pool.map(check, all_programs, all_programs.values()) if fault]
print("\n".join(faults) or f"{len(all_programs)} programs of {len(pages)} pages compile, and those of README and the guides run")
sys.exit(1 if faults or not all_programs else 0)
