#!/usr/bin/env python3
"""Compares tandem for Python with PyTorch, expression by expression.

run.py --peer PYTHON        PYTHON is an interpreter that has PyTorch; this one has tandem (run it by ./dev python)
run.py --peer PYTHON --save-peer FILE, later --use-peer FILE: PyTorch's answers are kept
The differences are written to --output, sorted; a table of their counts is printed. The end is 1 where a worker of tandem crashed.
"""

import argparse
import collections
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import expressions  # noqa: E402
import sorting  # noqa: E402
import workers  # noqa: E402


def arguments_of(given):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PYTHON", help="the Python that has PyTorch")
    parser.add_argument("--save-peer", metavar="FILE", type=pathlib.Path, help="write PyTorch's answers")
    parser.add_argument(
        "--use-peer", metavar="FILE", type=pathlib.Path, help="take PyTorch's answers from a file; what is not in it is asked of --peer"
    )
    parser.add_argument(
        "--part", action="append", help="only this part; may be given several times. One of: " + ", ".join(expressions.parts())
    )
    parser.add_argument("--match", metavar="TEXT", help="only expressions that have this text")
    parser.add_argument("--every", metavar="N", type=int, default=1, help="only each Nth expression: a quick look")
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=pathlib.Path,
        default=pathlib.Path("differences.txt"),
        help="where the differences are written (differences.txt)",
    )
    parser.add_argument("--json", action="store_true", help="print the counts as JSON, and write the differences as JSON")
    parser.add_argument("--list", action="store_true", help="print the expressions and stop")
    arguments = parser.parse_args(given)
    unknown = [part for part in arguments.part or [] if part not in expressions.parts()]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; the parts are {', '.join(expressions.parts())}")
    if not arguments.peer and not arguments.use_peer and not arguments.list:
        parser.error("--peer says which Python has PyTorch, --use-peer which file has its answers")
    return arguments


def progress(name):
    """Tells on the terminal how far a worker is, at most twice a second."""
    last = [0.0]

    def told(done, wanted):
        if sys.stderr.isatty() and (time.monotonic() - last[0] > 0.5 or done == wanted):
            last[0] = time.monotonic()
            print(f"\r{name}: {done} of {wanted}", end="\n" if done == wanted else "", file=sys.stderr, flush=True)

    return told


def peer_answers(arguments, texts):
    """PyTorch's answer to each expression."""
    kept = json.loads(arguments.use_peer.read_text()) if arguments.use_peer else {}
    missing = [text for text in texts if text not in kept]
    if missing and not arguments.peer:
        raise SystemExit(f"{arguments.use_peer} has no answers to {len(missing)} expressions: give --peer too")
    kept.update(zip(missing, workers.run(arguments.peer, "torch", missing, progress("PyTorch")) if missing else []))
    if arguments.save_peer:
        arguments.save_peer.write_text(json.dumps(kept))
    return [kept[text] for text in texts]


def table(counts):
    """Parts down, kinds across; kinds that nothing is of are left out."""
    kinds = [kind for kind in sorting.KINDS if any(kind in row for row in counts.values())]
    rows = [["part", "all", *kinds]]
    rows += [[part, str(sum(row.values())), *(str(row[kind] or ".") for kind in kinds)] for part, row in counts.items()]
    total = sum(counts.values(), collections.Counter())
    rows.append(["all", str(sum(total.values())), *(str(total[kind]) for kind in kinds)])
    widths = [max(len(word) for word in " ".join(column).split()) for column in zip(*rows)]
    lines = []
    for depth in range(max(len(cell.split()) for cell in rows[0])):
        lines.append("  ".join((cell.split() + [""] * 9)[depth].rjust(width) for cell, width in zip(rows[0], widths)))
    return "\n".join(lines + ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows[1:]])


def write_differences(path, found, as_json):
    order = {kind: at for at, kind in enumerate(sorting.KINDS)}
    different = sorted((d for d in found if d["kind"] not in (*sorting.SAME, "known")), key=lambda d: (-order[d["kind"]], d["part"]))
    if as_json:
        path.write_text(json.dumps(different, indent=1))
        return len(different)
    lines, last = [], None
    for d in different:
        if (d["kind"], d["part"]) != last:
            last = (d["kind"], d["part"])
            lines.append(f"\n== {d['kind']} | {d['part']}")
        lines.append(f"{d['expression']}\n    PyTorch: {sorting.short(d['peer'])}\n    tandem:  {sorting.short(d['tandem'])}")
    path.write_text("\n".join(lines).lstrip() + "\n")
    return len(different)


def main(given=None):
    arguments = arguments_of(given)
    chosen = [
        (part, text)
        for part, text in expressions.expressions()
        if (not arguments.part or part in arguments.part) and (not arguments.match or arguments.match in text)
    ]
    chosen = chosen[:: arguments.every]
    if arguments.list:
        print("\n".join(text for _, text in chosen))
        return 0
    texts = [text for _, text in chosen]
    peer = peer_answers(arguments, texts)
    ours = workers.run(workers.this_python(), "tandem", texts, progress("tandem"))
    counts, found = collections.defaultdict(collections.Counter), []
    for (part, text), a, b in zip(chosen, peer, ours):
        kind, reason = sorting.sort(text, a, b)
        counts[part][kind] += 1
        found.append({"part": part, "expression": text, "kind": kind, "peer": a, "tandem": b, "reason": reason})
    written = write_differences(arguments.output, found, arguments.json)
    print(json.dumps(counts, indent=1) if arguments.json else table(counts))
    print(f"{written} differences are in {arguments.output}", file=sys.stderr)
    return 1 if any(row["crash"] for row in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
