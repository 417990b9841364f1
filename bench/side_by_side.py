"""Two programs measured side by side: alternating runs, ratios of neighbours, and how busy the machine was with other work."""

import json
import os
import pathlib
import platform
import statistics
import subprocess
import time

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
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", metavar="DIR", help="tandem's build folder (default build/release)")
    parser.add_argument("--venv", type=pathlib.Path, default=torch_peer.cache_folder() / "torch-venv", metavar="DIR",
                        help="the peer's virtual environment; made where it is missing (default %(default)s)")
    parser.add_argument("--peer-keeps-memory", action="store_true",
                        help="let the peer's malloc keep freed memory too, which spares it page faults (default: as it comes)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")


def measured(command, environment):
    """Runs one side once; its figures in nanoseconds by case, and the library's own name for itself."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise BenchError(f"{' '.join(map(str, command))} ended with {done.returncode}: {last}")
    document = json.loads(done.stdout)
    return {row["name"]: row["ns"] for row in document["results"]}, document


def run_rounds(rounds, ours, peer, say):
    """A-B-B-A: all runs of each side in order, so that run i of one stands beside run i of the other; and what the programs printed."""
    runs = {"peer": [], "ours": []}
    documents = {"peer": [], "ours": []}
    sides = {"peer": peer, "ours": ours}
    order = [side for side in ("peer", "ours", "ours", "peer") if sides[side]]
    for round_number in range(rounds + 1):
        say("warming up" if round_number == 0 else f"round {round_number} of {rounds}")
        for side in order[:len(order) // 2] if round_number == 0 else order:
            figures, document = measured(*sides[side])
            if round_number > 0:
                runs[side].append(figures)
                documents[side].append(document)
    return runs, documents


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


def machine():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def readable(ns):
    for unit, scale in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if ns < 1000 * scale:
            break
    return f"{ns / scale:.3g} {unit}" if ns / scale < 1000 else f"{ns / scale:.0f} {unit}"
