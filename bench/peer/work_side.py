"""What the other libraries' sides of `./dev bench work` share: their options, how they compare with our answers, measure and reply."""

import argparse
import json
import pathlib
import statistics
import sys
import time

DIFFERS = 3  # the exit status where an output is not ours
TOLERANCE = 1e-3


def parse(description, forms):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--case", required=True, metavar="NAME", help="what is measured")
    parser.add_argument("--form", choices=forms, default=forms[0], help="how it is run (default %(default)s)")
    parser.add_argument("--data", type=pathlib.Path, required=True, metavar="FOLDER", help="what `tandem_bench work --save FOLDER` wrote")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads (default 1)")
    parser.add_argument("--ms", type=float, default=1000, metavar="MS", help="about how long it is measured, in milliseconds (default 1000)")
    parser.add_argument("--serve", action="store_true", help="measure whenever a line of standard input comes, and answer with a line")
    return parser


def check(what, theirs, ours):
    """Ends the program where a number or an array is not what ours is, relative to the largest of ours."""
    largest = float(abs(ours).max())
    difference = float(abs(theirs - ours).max())
    if not difference <= TOLERANCE * largest:  # nan is wrong, too
        print(f"the {what} differs from tandem's by {difference:g}, where its largest number is {largest:g}", file=sys.stderr)
        sys.exit(DIFFERS)


def measure(name, budget_ms, body):
    """As bench/measure.h does: a quarter warms up and finds the size of a batch, the figure is the batches' median."""
    def time_ns(iterations):
        start = time.perf_counter_ns()
        for _ in range(iterations):
            body()
        return time.perf_counter_ns() - start

    budget = budget_ms * 1e6
    batch, warm = 1, 0
    while True:
        last = time_ns(batch)
        warm += last
        if warm >= budget / 4:
            break
        if last < budget / 40:
            batch *= 2
    batch = max(1, int(batch * (budget / 20) / max(last, 1)))
    times, spent = [], 0
    while spent < budget * 3 / 4 or len(times) < 3:
        ns = time_ns(batch)
        spent += ns
        times.append(ns / batch)
    return {"name": name, "ns": statistics.median(times), "best_ns": min(times), "batches": len(times), "batch": batch}


def peak_memory_bytes():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024


def run(options, library, body):
    """Measures once, or whenever it is asked to."""
    def reply():
        row = measure(options.case, options.ms, body)
        document = {"library": library, "form": options.form, "threads": options.threads, "peak_memory_bytes": peak_memory_bytes(), "results": [row]}
        print(json.dumps(document), flush=True)

    if not options.serve:
        return reply()
    print("ready", flush=True)
    for _ in sys.stdin:
        reply()
