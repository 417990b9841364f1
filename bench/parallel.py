"""What several GPUs do that one does not, and what as many processes of their own would do. docs/benchmarks.md says how it measures."""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys

from side_by_side import BUSY, ROOT, BenchError, first_line, machine, others_share

TRAINING = ["densenet121", "lenet", "resnet18", "products"]
MOVES = ["overlap", "collectives"]
FLOORS = {"densenet121": 0.95, "resnet18": 0.95, "products": 0.95}  # of the ratio that independent processes reach, on virtual GPUs


def fail(message):
    print(f"bench parallel: {message}", file=sys.stderr)
    sys.exit(1)


def parse():
    parser = argparse.ArgumentParser(prog="bench/run parallel", description=__doc__)
    parser.add_argument("--gpus", default="1,2", metavar="N,N", help="numbers of GPUs (default 1,2)")
    parser.add_argument("--only", action="append", choices=TRAINING + MOVES, metavar="NAME",
                        help=f"only this case; may be repeated. Cases: {', '.join(TRAINING + MOVES)}")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds, each once forwards and once backwards (default 5)")
    parser.add_argument("--ms", type=float, default=4000, metavar="MS", help="about how long one measurement takes (default 4000)")
    parser.add_argument("--batch", type=int, default=0, metavar="N", help="pictures a GPU (default: as published, fewer on virtual GPUs)")
    parser.add_argument("--size", type=int, default=224, metavar="N", help="height and width of DenseNet's pictures (default 224)")
    parser.add_argument("--no-independent", action="store_true", help="leave out the processes of their own")
    parser.add_argument("--link", action="append", default=[], metavar="LINK", help="model training over nvlink, pcie, ethernet100 or COUNT:GB/S:MICROSECONDS")
    parser.add_argument("--rate", action="append", default=[], metavar="CASE=N", help="one GPU's pictures a second for the model, measured elsewhere")
    parser.add_argument("--quick", action="store_true", help="everything small and once: whether it works; the figures mean nothing")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", metavar="DIR", help="tandem's build folder (default build/release)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the tables")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        help="write parallel.md and parallel.json there (default bench/results for a whole run, nothing for a partial one)")
    parser.add_argument("--check", action="store_true", help="exit 1 where a floor does not hold, or the machine was busy")
    options = parser.parse_args()
    try:
        options.gpus = sorted({int(number) for number in options.gpus.split(",")})
    except ValueError:
        parser.error(f"--gpus takes whole numbers separated by commas, not '{options.gpus}'")
    if options.gpus[0] < 1 or options.rounds < 1 or options.ms <= 0:
        parser.error("--gpus and --rounds must be at least 1, --ms above 0")
    if options.quick:
        options.rounds, options.ms, options.size, options.batch = 1, min(options.ms, 50), min(options.size, 32), options.batch or 2
    return options


class Progress:
    """A line on the terminal that is drawn over itself; plain lines elsewhere."""

    def __init__(self, steps):
        self.steps, self.done, self.terminal = steps, 0, sys.stderr.isatty()

    def advance(self, text):
        self.done += 1
        bar = "#" * (20 * self.done // self.steps)
        if self.terminal:
            print(f"\r\033[K[{bar:.<20}] {self.done}/{self.steps} {text}", end="" if self.done < self.steps else "\n", file=sys.stderr, flush=True)

    def say(self, text):
        if not self.terminal:
            print(f"{text}…", file=sys.stderr, flush=True)


class Server:
    """A process of tandem_bench that measures one case whenever it is told to."""

    def __init__(self, program, case, gpus, options, environment):
        arguments = ["parallel", "--serve", case, "--gpus", ",".join(map(str, gpus)), "--ms", str(options.ms), "--batch", str(options.batch), "--size",
                     str(options.size)] + ["--quick"] * options.quick
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=environment)

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            text = self.process.stderr.read().strip().splitlines() or ["it printed nothing"]
            raise BenchError(f"tandem_bench ended with {self.process.wait()}: {text[-1]}")
        return line

    def wait_until_ready(self):
        self.line()

    def ask(self, gpus):
        self.process.stdin.write(f"{gpus}\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.line())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.process.stderr.close()


def rate_of(servers, gpus):
    """All of them at once; their rates added up."""
    for server in servers:
        server.ask(gpus)
    return sum(server.answer()["per_s"] for server in servers)


def measure_case(case, options, program, places, progress):
    """Rates by number of GPUs: of one process on so many of them, and of so many processes on one each; and the first process's answer."""
    together, alone = places
    rates = {(kind, n): [] for kind in ("together", "alone") for n in options.gpus}
    with contextlib.ExitStack() as stack:
        def start(gpus, environment):
            server = Server(program, case, gpus, options, environment)
            stack.callback(server.close)
            return server
        one = start(options.gpus, together)
        many = [] if options.no_independent else [start([1], alone(k)) for k in range(options.gpus[-1])]
        for server in [one, *many]:
            server.wait_until_ready()
        order = [("together", n) for n in options.gpus] + [("alone", n) for n in options.gpus if many]
        for round_number in range(options.rounds):
            progress.say(f"{case}: round {round_number + 1} of {options.rounds}")
            for kind, n in order + order[::-1]:
                rates[kind, n].append(rate_of([one], n) if kind == "together" else rate_of(many[:n], 1))
                progress.advance(case)
        one.ask(options.gpus[0])
        batch = one.answer()["batch"]
    return {key: values for key, values in rates.items() if values}, batch


def figures(case, rates, batch, options):
    first = options.gpus[0]
    rows = []
    for (kind, n), values in rates.items():
        ratios = [value / base for value, base in zip(values, rates[kind, first])]
        rows.append({"name": case, "kind": kind, "gpus": n, "batch": batch, "per_s": statistics.median(values), "lowest": min(values), "highest": max(values),
                     "speed_up": statistics.median(ratios), "efficiency": statistics.median(ratios) * first / n, "runs": values})
    for row in rows:
        own = [value / base for value, base in zip(rates[row["kind"], row["gpus"]], rates[row["kind"], first])]
        if row["kind"] == "together" and ("alone", row["gpus"]) in rates and row["gpus"] > first:
            theirs = [value / base for value, base in zip(rates["alone", row["gpus"]], rates["alone", first])]
            shares = [a / b for a, b in zip(own, theirs)]
            row |= {"of_independent": statistics.median(shares), "of_independent_range": [min(shares), max(shares)]}
    return rows


def places_of(program, options, most):
    """Environments: of the process that has all GPUs, and by number of those that have one each; and what they run on."""
    base = {name: value for name, value in os.environ.items() if not name.startswith("TANDEM_")}
    listed = json.loads(subprocess.run([program, "devices", "--json"], stdout=subprocess.PIPE, text=True, env=base, check=True).stdout)
    real = [device for device in listed["devices"] if device["device"].startswith("cuda") and not device["virtual"]]
    if len(real) >= most and "TANDEM_VIRTUAL_GPUS" not in os.environ:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(str(k) for k in range(len(real)))).split(",")
        return base, lambda k: {**base, "CUDA_VISIBLE_DEVICES": visible[k]}, real[0]["name"], False
    threads = max(1, len(os.sched_getaffinity(0)) // most)
    # The memory of each: half of the machine's would be shared by as many processes otherwise.
    settings = os.environ.get("TANDEM_VIRTUAL_GPUS", "").partition(",")[2]
    spec = lambda count: f"{count}" + (f",{settings}" if settings else "")
    together = {**base, "TANDEM_VIRTUAL_GPUS": spec(most)}
    return together, lambda _: {**base, "TANDEM_VIRTUAL_GPUS": spec(1), "TANDEM_NUM_THREADS": str(threads)}, "virtual GPUs", True


def moves(options, program, wanted, environment, say):
    """Overlap, collectives and the model: in one process, which prints a document."""
    names = [name for name in MOVES if name in wanted]
    if not names and not options.link:
        return {}
    say(" and ".join(names) or "the model")
    arguments = ["--gpus", ",".join(map(str, options.gpus)), "--rounds", str(options.rounds), "--ms", str(options.ms)] + ["--quick"] * options.quick
    done = subprocess.run([program, "parallel", "--json", *arguments, *[part for name in names for part in ("--only", name)]], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        raise BenchError((done.stderr.strip().splitlines() or ["tandem_bench printed nothing"])[-1])
    return json.loads(done.stdout)


def model(options, program, rows):
    """What the program's model makes of the rates on one GPU."""
    if not options.link:
        return ""
    given = {rate.partition("=")[0] for rate in options.rate}
    ones = {row["name"]: row for row in rows if row["kind"] == "together" and row["gpus"] == 1 and row["name"] != "products"}
    rates = options.rate + [f"{name}={row['per_s']}" for name, row in ones.items() if name not in given]
    batches = [part for name, row in ones.items() for part in ("--model-batch", f"{name}={row['batch']}")]
    command = [program, "parallel", "--model", *[part for link in options.link for part in ("--link", link)], *[part for rate in rates for part in ("--rate", rate)], *batches]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise BenchError((done.stderr.strip().splitlines() or ["tandem_bench printed nothing"])[-1])
    return done.stdout


def main():
    options = parse()
    print(options)


if __name__ == "__main__":
    sys.exit(main())
