"""Two programs measured side by side: alternating runs, ratios of neighbours, and how busy the machine was with other work."""

import contextlib
import datetime
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import overview
import processor
import torch_peer

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUSY = 0.15  # other work's share of the machine from which on the figures don't count
COLLAPSED = 3  # a run slower than this many times its side's median has collapsed


class BenchError(Exception):
    """What could not be measured, and why."""


def add_options(parser):
    """The options of every program that measures both sides."""
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds of peer, ours, ours, peer (default 5)")
    parser.add_argument("--no-peer", action="store_true", help="measure tandem alone")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="threads of both sides (default: all cores)")
    parser.add_argument("--isa", choices=list(processor.LIMITS), default=processor.asked(parser),
                        help="hold both sides to an instruction set (default: TANDEM_ISA's, else all that the processor has)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", metavar="DIR", help="tandem's build folder (default build/release)")
    parser.add_argument("--venv", type=pathlib.Path, default=torch_peer.cache_folder() / "torch-venv", metavar="DIR",
                        help="the peer's virtual environment; made where it is missing (default %(default)s)")
    parser.add_argument("--peer-keeps-memory", action="store_true",
                        help="let the peer's malloc keep freed memory too, which spares it page faults (default: as it comes)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")


def environments(options):
    """Of our side and of the peer's, held to --isa; other variables that begin with TANDEM_ are not passed on."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("TANDEM_")} | processor.LIMITS.get(options.isa, {})
    keep = {"MALLOC_TRIM_THRESHOLD_": "1000000000", "MALLOC_MMAP_THRESHOLD_": "1000000000"} if options.peer_keeps_memory else {}
    return ours, {**ours, **keep}


def isa_of(options):
    """What both sides are held to; None where a benchmark has no such option, or it was not given."""
    return getattr(options, "isa", None)


def setting(options, others):
    """What every result tells of the run; `others`: other work's share of the machine."""
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "cpu": processor.name(isa_of(options)),
            "cores": len(os.sched_getaffinity(0)),
            "rounds": options.rounds, "ms": options.ms, "tandem": first_line([options.build / "bin/tandem", "--version"]),
            "commit": first_line(["git", "describe", "--always", "--dirty"]), "others_share": round(others, 3)}


def peer_setting(options, others):
    """The same of those with the options of `add_options`."""
    return {**setting(options, others), "threads": options.threads, "peer_keeps_memory": options.peer_keeps_memory}


def conclude(name, options, result, markdown, whole, short, goal="floor", unchecked="no floor was"):
    """Writes NAME.md and NAME.json: to --out, else to the processor's folder in bench/results where the run was whole and the machine quiet, and
    all processors' table anew. Says what fell short, `short` by name, of its goal. The exit status."""
    busy = result["setting"]["others_share"] > BUSY
    out = options.out or (overview.RESULTS / processor.folder(isa_of(options)) if whole and not busy else None)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{name}.md").write_text(markdown)
        (out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        print(f"written to {out}/{name}.md and {name}.json", file=sys.stderr)
        if not options.out:
            overview.write()
    if short:
        print(f"below the {goal}: {short}", file=sys.stderr)
    if busy:
        print(f"the machine was busy with other work: {unchecked} checked, and only --out writes such results", file=sys.stderr)
    return 1 if options.check and (short or busy) else 0


def measured(command, environment):
    """Runs one side once; its figures in nanoseconds by case, and the library's own name for itself."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise BenchError(f"{' '.join(map(str, command))} ended with {done.returncode}: {last}")
    document = json.loads(done.stdout)
    return {row["name"]: row["ns"] for row in document["results"]}, document


def alternate(rounds, sides, say):
    """A-B-B-A: what the function of each side gives, in order, so that run i of one stands beside run i of another. Half a round warms up."""
    given = {side: [] for side in sides}
    order = list(sides)
    for round_number in range(rounds + 1):
        say("warming up" if round_number == 0 else f"round {round_number} of {rounds}")
        for side in order if round_number == 0 else order + order[::-1]:
            result = sides[side]()
            if round_number > 0:
                given[side].append(result)
    return given


def run_rounds(rounds, ours, peer, say):
    """A-B-B-A of two programs: all runs of each side, and what the programs printed."""
    programs = {side: program for side, program in (("peer", peer), ("ours", ours)) if program}
    sides = {side: functools.partial(measured, *program) for side, program in programs.items()}
    runs = {"peer": [], "ours": []}
    documents = {"peer": [], "ours": []}
    for side, results in alternate(rounds, sides, say).items():
        runs[side] = [figures for figures, _ in results]
        documents[side] = [document for _, document in results]
    return runs, documents


class Server:
    """A process that is ready once it has written a line, and then answers each line with a line of JSON."""

    def __init__(self, command, environment):
        self.command = command
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment)

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.errors.seek(0)
            text = self.errors.read().strip().splitlines() or ["it printed nothing"]
            raise BenchError(f"{' '.join(map(str, self.command))} ended with {self.process.returncode}: {text[-1]}")
        return line

    def wait_until_ready(self):
        self.line()

    def ask(self, question):
        with contextlib.suppress(BrokenPipeError):  # it has ended: answer() says why
            self.process.stdin.write(f"{question}\n")
            self.process.stdin.flush()

    def answer(self):
        return json.loads(self.line())

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.errors.close()


def compare(name, runs):
    """Median ratio of the pairs in which neither side collapsed, with its range."""
    pairs = [(peer[name], ours[name]) for peer, ours in zip(runs["peer"], runs["ours"])]
    middle = [statistics.median(values) for values in zip(*pairs)]
    kept = [pair for pair in pairs if all(value <= COLLAPSED * m for value, m in zip(pair, middle))]
    ratios = [peer / ours for peer, ours in kept]
    peer, ours = zip(*kept)
    return {"peer_ns": statistics.median(peer), "ours_ns": statistics.median(ours), "ratio": statistics.median(ratios), "lowest": min(ratios),
            "highest": max(ratios), "fastest_ratio": min(peer) / min(ours), "pairs": len(pairs), "collapsed": len(pairs) - len(kept),
            "peer_runs_ns": [p for p, _ in pairs], "ours_runs_ns": [o for _, o in pairs]}


def ratio_text(figures):
    dropped = f", {figures['collapsed']} of {figures['pairs']} dropped" if figures["collapsed"] else ""
    return f"{figures['ratio']:.2f}x ({figures['lowest']:.2f}-{figures['highest']:.2f}{dropped})"


def others_text(share):
    """What a line of the setting says of other work on the machine, where there was too much of it."""
    return f" · OTHER WORK TOOK {share:.0%} OF THE MACHINE: measure again when it is quiet" if share > BUSY else ""


def first_line(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT).stdout.strip().splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def others_share(seconds=1.0):
    """The share of the machine's processor time that other work takes, sampled while we do nothing."""
    def sample():
        numbers = [int(field) for field in open("/proc/stat").readline().split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]  # all, idle (with waiting for disks)
    total, idle = sample()
    time.sleep(seconds)
    total_after, idle_after = sample()
    return max(0.0, 1 - (idle_after - idle) / max(1, total_after - total))


def readable(ns):
    for unit, scale in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if ns < 1000 * scale:
            break
    return f"{ns / scale:.3g} {unit}" if ns / scale < 1000 else f"{ns / scale:.0f} {unit}"
