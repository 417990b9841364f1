"""Ranks of one machine: collectives of CPU tensors beside MPI's and PyTorch's, and a step of data-parallel training. docs/benchmarks.md says how
it measures."""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys

import torch_peer
from side_by_side import BUSY, COLLAPSED, ROOT, BenchError, alternate, conclude, others_share, others_text, readable, setting
from tables import markdown_table, table_text

RANKS = 2
CASES = {"all_reduce_4": "all_reduce of 4 B", "all_reduce_1m": "all_reduce of 1 MB", "all_reduce_16m": "all_reduce of 16 MB",
         "mlp": "MLP 784-256-128-10 SGD step, 2 x 64"}
# case, side, the other side, at most so many times the other's time, plus so many ns
FLOORS = [(name, "tandem local", "MPI", 1.2, 0) for name in CASES if name != "mlp"] + \
         [(name, "tandem mpi", "MPI", 1, 20e3) for name in CASES if name != "mlp"] + [("mlp", "tandem local", "PyTorch", 1 / 6, 0)]
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "core", "-n", str(RANKS)]


def fail(message):
    print(f"bench comm: {message}", file=sys.stderr)
    sys.exit(1)


def parse():
    parser = argparse.ArgumentParser(prog="bench/run comm", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds, each once through all sides and once back (default 5)")
    parser.add_argument("--only", action="append", choices=list(CASES), metavar="NAME", help=f"only this case; may be repeated. Cases: {', '.join(CASES)}")
    parser.add_argument("--ms", type=float, default=400, metavar="MS", help="milliseconds a case and run (default 400)")
    parser.add_argument("--no-peer", action="store_true", help="measure tandem alone")
    parser.add_argument("--python", default="python3", metavar="PROGRAM", help="a Python that imports torch (default python3); without one PyTorch is left out")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", metavar="DIR", help="tandem's build folder (default build/release)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="write comm.md and comm.json there (default bench/results for a whole run)")
    parser.add_argument("--quick", action="store_true", help="one short round: whether it works; the figures mean nothing")
    parser.add_argument("--check", action="store_true", help="exit 1 where a floor does not hold, or the machine was busy")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.ms = 1, min(options.ms, 20)
    if options.rounds < 1 or options.ms <= 0:
        parser.error("--rounds must be at least 1, --ms above 0")
    return options


def compile_mpi():
    """The peer's program, compiled once for each version of its sources."""
    source = ROOT / "bench/peer/comm_mpi.cpp"
    key = hashlib.sha256(source.read_bytes() + (ROOT / "bench/measure.h").read_bytes()).hexdigest()[:16]
    program = torch_peer.cache_folder() / "bench" / f"comm_mpi-{key}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        unfinished = program.with_suffix(f".{os.getpid()}")
        torch_peer.run(["mpicxx", "-std=c++20", "-O2", f"-I{ROOT}", source, "-o", unfinished], "compiling comm_mpi.cpp")
        unfinished.rename(program)
    return program


def imports_torch(python):
    try:
        return subprocess.run([python, "-c", "import torch.distributed"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def started_by_mpi(command, environment):
    done = subprocess.run([*MPIRUN, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        raise BenchError(f"{command[0]} ended with {done.returncode}: {(done.stderr.strip().splitlines() or ['it printed nothing'])[-1]}")
    return json.loads(done.stdout)


def started_here(command, environment):
    """A process for each rank; the first one's document."""
    port = free_port()
    ranks = []
    for rank in range(RANKS):
        own = {**environment, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS), "LOCAL_WORLD_SIZE": str(RANKS),
               "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        ranks.append(subprocess.Popen([str(part).replace("PORT", str(port)) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=own))
    said = [rank.communicate() for rank in ranks]
    for rank, (_, errors) in zip(ranks, said):
        if rank.returncode != 0:
            raise BenchError(f"{command[0]} ended with {rank.returncode}: {(errors.strip().splitlines() or ['it printed nothing'])[-1]}")
    return json.loads(said[0][0])


def sides(options, program, wanted):
    """What is measured, by name: a function that runs it once."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TANDEM_")}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    common = ["--ms", options.ms, *[part for name in wanted for part in ("--only", name)]]
    all_reduces = ["--ms", options.ms, *[part for name in wanted if name != "mlp" for part in ("--only", name)]]
    ours = [program, "comm", "--json"]
    found = {"tandem local": lambda: started_here([*ours, "--backend", "local", "--meet", "bench-PORT", *common], environment)}
    has_mpi = shutil.which("mpirun") and len(all_reduces) > 2
    if has_mpi:
        found["tandem mpi"] = lambda: started_by_mpi([*ours, "--backend", "mpi", *all_reduces], environment)
    if options.no_peer:
        return found, []
    missing = []
    if has_mpi and shutil.which("mpicxx"):
        peer = compile_mpi()
        found["MPI"] = lambda: started_by_mpi([peer, *all_reduces], environment)
    elif len(all_reduces) > 2:
        missing.append("MPI (apt-get install openmpi-bin libopenmpi-dev)")
    if imports_torch(options.python):
        found["PyTorch"] = lambda: started_here([options.python, ROOT / "bench/peer/comm_torch.py", *common], environment)
    else:
        missing.append(f"PyTorch ({options.python} does not import torch; --python names one that does)")
    return found, missing


def measure(options, found, say):
    """A-B-C-C-B-A: all runs of each side, by case."""
    runs = {side: {} for side in found}
    libraries = {}
    for side, documents in alternate(options.rounds, found, say).items():
        libraries[side] = documents[-1]["library"]
        for row in [row for document in documents for row in document["results"]]:
            runs[side].setdefault(row["name"], []).append(row["ns"])
    return runs, libraries


def compare(name, ours, other, runs):
    """The median of our time over theirs in neighbouring runs in which neither collapsed, with its range."""
    pairs = list(zip(runs[ours][name], runs[other][name]))
    middle = [statistics.median(values) for values in zip(*pairs)]
    kept = [pair for pair in pairs if all(value <= COLLAPSED * m for value, m in zip(pair, middle))]
    ratios = [a / b for a, b in kept]
    return {"ratio": statistics.median(ratios), "lowest": min(ratios), "highest": max(ratios), "pairs": len(pairs), "collapsed": len(pairs) - len(kept),
            "extra_ns": statistics.median(a - b for a, b in kept)}


def results(runs, may_judge):
    rows = []
    for name, what in CASES.items():
        times = {side: statistics.median(values[name]) for side, values in runs.items() if name in values}
        if not times:
            continue
        row = {"name": name, "what": what, "ns": times, "runs_ns": {side: runs[side][name] for side in times}, "floors": []}
        for case, ours, other, times_other, extra in FLOORS:
            if case != name or ours not in times or other not in times:
                continue
            floor = {"side": ours, "other": other, "times": times_other, "plus_ns": extra} | compare(name, ours, other, runs)
            floor["holds"] = (floor["extra_ns"] <= extra if extra else floor["ratio"] <= times_other) if may_judge else None
            row["floors"].append(floor)
        rows.append(row)
    return rows


def floor_text(floor):
    held = {True: "pass", False: "FAIL", None: ""}[floor["holds"]]
    if floor["plus_ns"]:
        return f"{floor['side']} {floor['other']} {floor['extra_ns'] / 1e3:+.1f} us (<= {floor['plus_ns'] / 1e3:.0f} us) {held}".strip()
    if floor["times"] < 1:
        return f"{floor['side']} {1 / floor['ratio']:.2f}x as fast as {floor['other']} ({1 / floor['highest']:.2f}-{1 / floor['lowest']:.2f}; >= {1 / floor['times']:.0f}x) {held}".strip()
    return f"{floor['side']} {floor['ratio']:.2f}x {floor['other']}'s time ({floor['lowest']:.2f}-{floor['highest']:.2f}; <= {floor['times']:g}x) {held}".strip()


def table(result):
    header = ["case", *result["libraries"], "floors"]
    rows = [[row["what"], *[readable(row["ns"][side]) if side in row["ns"] else "" for side in result["libraries"]], "; ".join(map(floor_text, row["floors"]))]
            for row in result["cases"]]
    return header, rows


def busy(result):
    return result["setting"]["others_share"] > BUSY


def summary(result):
    s = result["setting"]
    return (f"{s['date']} · {s['cpu']}, {s['cores']} cores · {RANKS} ranks, one thread each · {s['tandem']} ({s['commit']}) · " +
            " · ".join(result["libraries"].values()) + f" · {s['rounds']} rounds there and back, {s['ms']:g} ms a case" +
            (" · QUICK: THE FIGURES MEAN NOTHING" if s["quick"] else "") +
            others_text(s["others_share"]))


def main():
    options = parse()
    program = options.build / "bin/tandem_bench"
    if not program.exists():
        fail(f"{program} is not there: build first with ./dev build, or name the build folder with --build DIR")
    say = lambda text: print(f"{text}…", file=sys.stderr, flush=True)
    wanted = options.only or list(CASES)
    try:
        found, missing = sides(options, program, wanted)
        for peer in missing:
            say(f"left out: {peer}")
        others = others_share()
        runs, libraries = measure(options, found, say)
        others = max(others, others_share())
    except (BenchError, torch_peer.PeerError) as error:
        fail(error)
    result = {
        "setting": {
            **setting(options, others), "quick": options.quick,
        },
        "libraries": libraries, "cases": results(runs, others <= BUSY and not options.quick),
    }
    header, rows = table(result)
    print(json.dumps(result, indent=1) if options.json else f"{summary(result)}\n\n{table_text(header, rows)}")
    whole = not (options.only or options.quick or options.no_peer or missing)
    lines = ["# Ranks of one machine", "", summary(result), "", "Times are medians. How it measures: `docs/benchmarks.md`.", "",
             markdown_table(header, rows)]
    short = "; ".join(floor_text(floor) for row in result["cases"] for floor in row["floors"] if floor["holds"] is False)
    return conclude("comm", options, result, "\n".join(lines) + "\n", whole, short)


if __name__ == "__main__":
    sys.exit(main())
