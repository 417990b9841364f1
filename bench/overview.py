"""All results that are kept, of every processor: a folder for each in bench/results, and one page over them, bench/results/README.md.

Run by itself it writes that page; with --check it compares, and the exit code is 1 where the page is not what the results say.
"""

import json
import pathlib
import sys

from tables import markdown_table

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
PAGES = {"micro": "Small things", "work": "Whole networks", "python": "In Python", "generate": "Language models", "ops": "Operations"}
LISTED = 12  # operations: the slowest ones; their pages have all


def documents(name):
    """The results of a benchmark by the processor's folder."""
    return {path.parent.name: json.loads(path.read_text()) for path in sorted(RESULTS.glob(f"*/{name}.json"))}


def ratios(found):
    """Of each case of `documents` that has a peer: its row by the processor's folder."""
    cases = {}
    for folder, document in found.items():
        for case in document["cases"]:
            if "ratio" in case:
                cases.setdefault(case["name"], {})[folder] = case
    return cases


def least(name):
    """Of each case of a benchmark: the folder where the ratio is least, and its row there."""
    return {case: min(rows.items(), key=lambda item: item[1]["ratio"]) for case, rows in ratios(documents(name)).items()}


def section(name, found):
    """A table: cases down, processors across; of operations the slowest."""
    cases = list(ratios(found).items())
    lines = [f"## {PAGES[name]}", ""]
    if name == "ops":
        below = {folder: [case for case, rows in cases if folder in rows and rows[folder]["ratio"] < 1] for folder in found}
        lines += [f"{folder}: {sum(folder in rows for _, rows in cases)} operations, {len(below[folder])} slower than PyTorch"
                  f"{': ' + ', '.join(below[folder]) if below[folder] else ''}.\n" for folder in found]
        cases = sorted(cases, key=lambda item: min(row["ratio"] for row in item[1].values()))[:LISTED]
    body = [[case, *(f"{rows[folder]['ratio']:.2f}x" if folder in rows else "" for folder in found)] for case, rows in cases]
    head = ["case", *(f"[{folder}]({folder}/{name}.md)" for folder in found)]
    return [*lines, markdown_table(head, body), ""]


def page():
    found = {name: documents(name) for name in PAGES}
    rows = []
    for folder in sorted({folder for documents_of in found.values() for folder in documents_of}):
        for name in PAGES:
            if folder in found[name]:
                s = found[name][folder]["setting"]
                rows.append([folder, f"[{name}]({folder}/{name}.md)", s["cpu"], f"{s['cores']} cores, {s['threads']} threads", s["date"][:10], s["commit"]])
    lines = ["# Results by processor", "", "`./dev bench` writes this page with every result that it keeps. A number is the time of the fastest peer over tandem's, both measured in the same minutes: above 1 tandem is faster.",
             "What each case is, and how it is measured: [benchmarks](../../docs/benchmarks.md).", "",
             "The speed of a product or of memory differs between processors, and so do these ratios; a folder that ends in the name of an instruction set holds what was measured with both sides held to it.", "",
             markdown_table(["processor", "page", "its name", "", "date", "commit"], rows), ""]
    for name in PAGES:
        if found[name]:
            lines += section(name, found[name])
    return "\n".join(lines)


def write():
    (RESULTS / "README.md").write_text(page())


if __name__ == "__main__":
    if "--check" not in sys.argv:
        write()
    elif (RESULTS / "README.md").read_text() != page():
        sys.exit("bench/results/README.md is not what the results say: run bench/overview.py")
