"""What being watched costs an operation: tandem beside a build of it in which nobody can be told of anything, then with each who can watch.
docs/benchmarks.md says how it measures."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import processor
from side_by_side import BUSY, ROOT, BenchError, others_share, run_rounds

# Who watches, and at most how many nanoseconds an operation that may cost
OFF = {"add": 1, "add_backward": 2, "queue": 1}  # and how many operations a call is: backward, with their gradients
ON = (("ledger", 1000), ("profiler", 1000), ("races", 5000))
MOST_OFF = 10


def fail(message):
    print(f"bench observers: {message}", file=sys.stderr)
    sys.exit(1)


def parse():
    parser = argparse.ArgumentParser(prog="bench/run observers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="rounds of without, with, with, without (default 10)")
    parser.add_argument("--ms", type=float, default=200, metavar="MS", help="milliseconds a case and run (default 200)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", metavar="DIR", help="tandem's build folder (default build/release)")
    parser.add_argument("--without", type=pathlib.Path, default=ROOT / "build/unobserved", metavar="DIR",
                        help="the build without observers; made where it is missing, which takes as long as a build of the library (default build/unobserved)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--check", action="store_true", help="exit 1 where a limit does not hold")
    options = parser.parse_args()
    if options.rounds < 1 or options.ms <= 0:
        parser.error("--rounds must be at least 1, --ms above 0")
    return options


def build_without(folder, say):
    say("building without observers")
    for command in (["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTANDEM_OBSERVERS=OFF", "-DTANDEM_TESTS=OFF",
                     "-DTANDEM_CUDA=OFF", "-DTANDEM_MPI=OFF"], ["cmake", "--build", folder, "--target", "tandem_bench"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            fail(f"{' '.join(map(str, command))} failed:\n{done.stdout.strip()[-800:]}")


def main():
    options = parse()
    say = lambda text: print(text, file=sys.stderr)
    build_without(options.without, say)
    environment = {**os.environ, "TANDEM_VIRTUAL_GPUS": "1"}
    sides = [([folder / "bin/tandem_bench", "observers", "--json", "--ms", str(options.ms)], environment) for folder in (options.build, options.without)]
    busy = others_share()
    runs, _ = run_rounds(options.rounds, *sides, say)
    median = lambda side, name: statistics.median(run[name] for run in runs[side])
    rows = []
    for name, operations in OFF.items():
        differences = [(ours[name] - peer[name]) / operations for peer, ours in zip(runs["peer"], runs["ours"])]
        rows.append({"case": name, "watched_by": "nobody", "ns": median("ours", name) / operations,
                     "without_ns": median("peer", name) / operations,
                     "cost_ns": statistics.median(differences), "at_most_ns": MOST_OFF})
    for name in ("add", "queue"):
        for who, most in ON:
            costs = [run[f"{name}_{who}"] - run[name] for run in runs["ours"]]
            rows.append({"case": name, "watched_by": who, "ns": median("ours", f"{name}_{who}"), "cost_ns": statistics.median(costs), "at_most_ns": most})
    for row in rows:
        row["holds"] = row["cost_ns"] <= row["at_most_ns"]
    if options.json:
        print(json.dumps({"machine": processor.name(), "rounds": options.rounds, "others_share": busy, "results": rows}, indent=1))
    else:
        print(f"{processor.name()}, {os.cpu_count()} cores, {options.rounds} rounds; nanoseconds an operation, medians")
        print(f"{'case':14}{'watched by':12}{'time':>8}{'cost':>8}{'at most':>9}")
        for row in rows:
            print(f"{row['case']:14}{row['watched_by']:12}{row['ns']:8.0f}{row['cost_ns']:+8.1f}{row['at_most_ns']:9}{'' if row['holds'] else '   exceeded'}")
        if busy > BUSY:
            print(f"other work took {busy:.0%} of the machine: the figures do not count")
    return int(options.check and not all(row["holds"] for row in rows))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        fail(error)
    except KeyboardInterrupt:
        sys.exit(130)
