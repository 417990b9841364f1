"""How fast the operations are: tandem against libtorch and against this machine. docs/benchmarks.md says how it measures."""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

import torch_peer
from side_by_side import (BUSY, ROOT, BenchError, add_options, compare, conclude, environments, others_share, others_text, peer_setting, readable,
                          run_rounds)
from tables import markdown_table, table_text

PEER = ROOT / "bench/peer/ops_torch.cpp"
# Against PyTorch: at least as fast. The others only need their share of a plain loop's rate.
FASTER = {"softmax", "log_softmax", "layer_norm", "transpose", "sort", "add_row", "add_column", "rand_like", "randn_like", "max_pool2d"}
# At least this share of the rate of a plain loop over the same bytes, at 1M elements.
SHARE = 0.7
POINTWISE = set(re.findall(r"^TD_(?:UNARY|BINARY)\((\w+)", (ROOT / "src/kernels/pointwise.def").read_text(), re.M))
REDUCTIONS = {"sum", "mean", "var", "norm", "amax", "argmax"}


def fail(message):
    print(f"bench ops: {message}", file=sys.stderr)
    sys.exit(1)


def peer_names():
    """The cases of the peer's program, read from its source."""
    text = PEER.read_text()
    body = text[text.index("& cases()"):text.index("int main")]
    return re.findall(r"(?:UNARY|BINARY)\((\w+)", body) + re.findall(r'\{"(\w+)",', body)


def parse(names):
    parser = argparse.ArgumentParser(prog="bench/run ops", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these operations. There are: {', '.join(names)}")
    add_options(parser)
    parser.add_argument("--size", type=int, default=1_000_000, metavar="N", help="elements (default 1000000)")
    parser.add_argument("--ms", type=float, default=50, metavar="MS", help="milliseconds an operation and run (default 50)")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="write ops.md and ops.json there (default the processor's folder in bench/results for a whole run)")
    parser.add_argument("--check", action="store_true", help="exit 1 where a target does not hold")
    options = parser.parse_args()
    if options.rounds < 1 or options.threads < 1 or options.ms <= 0 or options.size < 1:
        parser.error("--rounds, --threads and --size must be at least 1, --ms above 0")
    for name in options.names:
        if name not in names:
            parser.error(f"there is no operation '{name}' to compare. There are: {', '.join(names)}")
    return options


def target(name, case):
    """What is asked of an operation, and whether it holds."""
    if name in FASTER:
        return "faster", case["ratio"] >= 1 if "ratio" in case else None
    if case["share"] is not None and (name in REDUCTIONS or name in POINTWISE):
        return f">= {SHARE:.0%} of a loop", case["share"] >= SHARE
    return "", None


HEADER = ("operation", "PyTorch", "tandem", "ratio (range)", "of peak", "plain loop", "target", "")


def rows(cases, busy):
    out = []
    for case in cases:
        verdict = "not counted" if busy and case["target"] else {True: "pass", False: "FAIL", None: ""}[case["holds"]]
        ratio = f"{case['ratio']:.2f}x ({case['lowest']:.2f}-{case['highest']:.2f})" if "ratio" in case else ""
        share = f"{case['share']:.0%}" if case["share"] is not None else ""
        loop = f"{case['plain_loop']:.2f}x" if case["plain_loop"] is not None else ""
        out.append((case["name"], readable(case["peer_ns"]) if "peer_ns" in case else "", readable(case["ours_ns"]), ratio, share, loop, case["target"], verdict))
    return out


def main():
    names = peer_names()
    options = parse(names)
    program = options.build / "bin/tandem_bench"
    if not program.exists():
        fail(f"{program} is not there: build first with ./dev build, or name the build folder with --build DIR")
    environment, peer_environment = environments(options)
    known = subprocess.run([program, "ops", "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    wanted = [name for name in (options.names or names) if name in known]
    for name in options.names:
        if name not in known:
            fail(f"tandem has no operation '{name}' to measure")
    common = ["--threads", str(options.threads), "--ms", str(options.ms), "--size", str(options.size)]
    ours = ([program, "ops", *wanted, "--json", *common], environment)
    peer = version = None
    say = lambda text: print(f"{text}…", file=sys.stderr, flush=True)
    if not options.no_peer:
        try:
            site, version = torch_peer.install(options.venv.expanduser().absolute())
            binary = torch_peer.compile_program(PEER, ROOT, site, version)
        except torch_peer.PeerError as error:
            fail(f"the peer is not available. {error}\n--no-peer measures tandem alone; --venv DIR takes an environment that has torch {torch_peer.WANTED}.")
        peer = ([binary, *common, *[part for name in wanted for part in ("--only", name)]], peer_environment)

    others = others_share()
    if others > BUSY:
        say(f"other work takes {others:.0%} of the machine: the figures will not count")
    try:
        runs, documents = run_rounds(options.rounds, ours, peer, say)
    except BenchError as error:
        fail(error)
    others = max(others, others_share())
    busy = others > BUSY

    cases = []
    for name in wanted:
        records = [row for document in documents["ours"] for row in document["results"] if row["name"] == name]
        shares = [row["share_of_peak"] for row in records if row["share_of_peak"] is not None]
        loops = [row["plain_loop_ns"] / row["ns"] for row in records if "plain_loop_ns" in row]
        case = {"name": name, "share": statistics.median(shares) if shares else None, "plain_loop": statistics.median(loops) if loops else None}
        case |= compare(name, runs) if peer else {"ours_ns": statistics.median(run[name] for run in runs["ours"])}
        case["target"], case["holds"] = target(name, case)
        if busy:
            case["holds"] = None
        cases.append(case)
    result = {"setting": {**peer_setting(options, others), "size": options.size, "peer": version}, "cases": cases}
    s = result["setting"]
    against = f"libtorch {version}" + (" keeping freed memory" if options.peer_keeps_memory else "") if version else "no peer"
    summary = (f"{s['date']} · {s['cpu']}, {s['cores']} cores · {s['threads']} threads each · {s['tandem']} ({s['commit']}) against {against} · "
               f"{s['size']} elements · {s['rounds']} rounds of A-B-B-A, {s['ms']:g} ms an operation" +
               others_text(others))
    print(json.dumps(result, indent=1) if options.json else f"{summary}\n\n{table_text(HEADER, rows(cases, busy))}")
    page = ["# Operations", "", summary, "", "Times are medians; the ratio is PyTorch's time over ours, *plain loop* the time of the same function as the compiler makes it over ours. How it measures: `docs/benchmarks.md`.", "",
            markdown_table(HEADER, rows(cases, busy))]
    short = ", ".join(case["name"] for case in cases if case["holds"] is False)
    whole = peer and not options.names and not options.peer_keeps_memory
    return conclude("ops", options, result, "\n".join(page) + "\n", whole, short, goal="target", unchecked="no target was")


if __name__ == "__main__":
    sys.exit(main())
