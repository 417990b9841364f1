"""tandem for Python against PyTorch, by one program that imports the one or the other. docs/benchmarks.md says how it measures."""

import argparse
import json
import pathlib
import sys

import torch_peer
from side_by_side import (BUSY, ROOT, BenchError, add_options, compare, conclude, environments, others_share, others_text, peer_setting, ratio_text,
                          readable, run_rounds)
from tables import markdown_table, table_text

# name: what it is, at least how many times PyTorch's speed
CASES = {
    "add": ("a + b of one element", 4),
    "ten_products": ("ten multiplications by a number and a sum, with backward", 10),
    "item": ("item() of one element", 1),
    "indexing": ("x[3, 5:40]", 1),
    "linear_regression": ("linear regression, SGD step of 32", 4),
    "mlp_8": ("MLP 784-256-128-10, Adam step of 8", 4),
    "mlp_128": ("MLP 784-256-128-10, Adam step of 128", 1.8),
    "cnn": ("two convolutions and a linear layer, SGD step of 32", 1.3),
    "gpt": ("nanoGPT of 2 layers, AdamW step of 4 x 32 tokens", 2),
    "loader": ("DataLoader over 4096 samples, shuffled, batches of 64", 1),
    "import": ("import", 1),
}
MOST_IMPORT_NS = 0.3e9


def fail(message):
    print(f"bench python: {message}", file=sys.stderr)
    sys.exit(1)


def parse():
    parser = argparse.ArgumentParser(prog="bench/run python", description=__doc__)
    add_options(parser)
    parser.add_argument("--only", action="append", choices=list(CASES), metavar="NAME", help=f"only this case; may be repeated. Cases: {', '.join(CASES)}")
    parser.add_argument("--ms", type=float, default=300, metavar="MS", help="milliseconds a case and run (default 300)")
    parser.add_argument("--peer-python", type=pathlib.Path, metavar="PROGRAM", help="a Python that imports torch, in place of the environment of --venv")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="write python.md and python.json there (default the processor's folder in bench/results for a whole run, nothing for a partial one)")
    parser.add_argument("--check", action="store_true", help="exit 1 where a floor does not hold")
    options = parser.parse_args()
    if options.rounds < 1 or options.threads < 1 or options.ms <= 0:
        parser.error("--rounds and --threads must be at least 1, --ms above 0")
    return options


def rows(result):
    out = []
    for case in result["cases"]:
        verdict = "pass" if case.get("pass") else "FAIL"
        peer = (readable(case["peer_ns"]), readable(case["ours_ns"]), ratio_text(case), f">= {case['at_least']:g}x") if "ratio" in case else ("", readable(case["ours_ns"]), "", "")
        out.append((case["what"], *peer, verdict if "ratio" in case else ""))
    return out


HEADER = ("case", "PyTorch", "tandem", "ratio (range)", "floor", "")


def summary(result):
    s = result["setting"]
    return (f"{s['date']} · {s['cpu']}, {s['cores']} cores · {s['threads']} threads each · {s['tandem']} ({s['commit']}) against PyTorch {s['peer']} · Python {s['python']} · "
            f"{s['rounds']} rounds of A-B-B-A, {s['ms']:g} ms a case" +
            others_text(s["others_share"]))


def markdown(result):
    lines = ["# Python benchmark", "", summary(result), "", "Times are medians; the ratio is PyTorch's time over ours. How it measures: `docs/benchmarks.md`.", "",
             markdown_table(HEADER, rows(result))]
    return "\n".join(lines) + "\n"


def main():
    options = parse()
    package = options.build / "python"
    if not list((package / "tandem").glob("_C*.so")):
        fail(f"{package} has no tandem for Python: build it first with ./dev python --version, or name the build folder with --build DIR")
    wanted = list(options.only or CASES)
    say = lambda text: print(f"{text}…", file=sys.stderr, flush=True)
    environment, peer_environment = environments(options)
    program = ROOT / "bench/peer/python_cases.py"
    common = ["--threads", str(options.threads), "--ms", str(options.ms), *[part for name in wanted for part in ("--only", name)]]
    ours = (["/usr/bin/python3", program, "tandem", *common], {**environment, "PYTHONPATH": str(package)})
    peer = None
    if not options.no_peer:
        try:
            python = options.peer_python or torch_peer.install_for_python(options.venv.expanduser().absolute())
        except torch_peer.PeerError as error:
            fail(f"the peer is not available. {error}\n--no-peer measures tandem alone; --peer-python names a Python that imports torch.")
        peer = ([python, program, "torch", *common], {name: value for name, value in peer_environment.items() if name != "PYTHONPATH"})
    others = others_share()
    if others > BUSY:
        say(f"other work takes {others:.0%} of the machine: the figures will not count")
    try:
        runs, documents = run_rounds(options.rounds, ours, peer, say)
    except BenchError as error:
        fail(error)
    cases = []
    for name in wanted:
        what, at_least = CASES[name]
        if peer:
            figures = compare(name, runs)
            cases.append({"name": name, "what": what, "at_least": at_least, **figures, "pass": figures["ratio"] >= at_least and (name != "import" or figures["ours_ns"] <= MOST_IMPORT_NS)})
        else:
            cases.append({"name": name, "what": what, "ours_ns": sorted(run[name] for run in runs["ours"])[len(runs["ours"]) // 2]})
    setting = {**peer_setting(options, others), "peer": documents["peer"][0]["version"] if peer else None, "python": documents["ours"][0]["python"]}
    result = {"setting": setting, "cases": cases}
    text = markdown(result)
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        print(table_text(HEADER, rows(result)))
    short = ", ".join(case["name"] for case in cases if not case.get("pass", True))
    sys.exit(conclude("python", options, result, text, not options.only and not options.no_peer, short))


if __name__ == "__main__":
    main()
