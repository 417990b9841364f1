"""What several GPUs do that one does not, and what as many processes of their own would do. docs/benchmarks.md says how it measures."""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys

from side_by_side import BUSY, ROOT, BenchError, Server, conclude, others_share, others_text, setting
from tables import markdown_table, table_text

TRAINING = ["densenet121", "lenet", "mlp", "resnet18", "products"]
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


def server_of(program, case, gpus, options, environment):
    """A process of tandem_bench that measures one case on the number of GPUs that it is asked for."""
    arguments = ["parallel", "--serve", case, "--gpus", ",".join(map(str, gpus)), "--ms", str(options.ms), "--batch", str(options.batch), "--size",
                 str(options.size)] + ["--quick"] * options.quick
    return Server([program, *arguments], environment)


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
            server = server_of(program, case, gpus, options, environment)
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
    settings = os.environ.get("TANDEM_VIRTUAL_GPUS", "").partition(",")[2]
    spec = lambda count: f"{count}" + (f",{settings}" if settings else "")
    together = {**base, "TANDEM_VIRTUAL_GPUS": spec(most)}
    return together, lambda _: {**base, "TANDEM_VIRTUAL_GPUS": spec(1), "TANDEM_NUM_THREADS": str(threads)}, "virtual GPUs", True


def program_says(command, environment):
    """What tandem_bench prints as a document."""
    done = subprocess.run([*map(str, command), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        raise BenchError((done.stderr.strip().splitlines() or ["tandem_bench printed nothing"])[-1])
    return json.loads(done.stdout)


def moves(options, program, names, environment):
    """Overlap and collectives, in one process."""
    chosen = [part for name in names for part in ("--only", name)]
    return program_says([program, "parallel", "--gpus", ",".join(map(str, options.gpus)), "--rounds", options.rounds, "--ms", options.ms, *chosen,
                         *["--quick"] * options.quick], environment)


def modelled(options, program, rows):
    """What the model makes of one GPU's rates: given ones at the published batch, else those measured here."""
    if not options.link:
        return []
    given = {rate.partition("=")[0]: rate.partition("=")[2] for rate in options.rate}
    ones = {row["name"]: row for row in rows if row["kind"] == "together" and row["gpus"] == 1 and row["name"] != "products"}
    links = [part for link in options.link for part in ("--link", link)]
    out = []
    for name in given | ones:
        rate = given.get(name) or ones[name]["per_s"]
        batch = [] if name in given else ["--batch", ones[name]["batch"]]
        found = program_says([program, "parallel", "--only", "model", *links, "--rate", f"{name}={rate}", *batch], None)["modelled"]
        out += [row | {"measured_here": name not in given} for row in found]
    return out


def case_rows(result):
    rows = []
    for row in result["cases"]:
        who = "" if row["kind"] == "together" else "processes of their own"
        against = ""
        if "of_independent" in row:
            low, high = row["of_independent_range"]
            against = f"{row['of_independent']:.1%} ({low:.1%}-{high:.1%})"
        rows.append([row["name"], f"{row['gpus']} x {row['batch']}", who, f"{row['per_s']:.4g}/s ({row['lowest']:.4g}-{row['highest']:.4g})",
                     f"{row['speed_up']:.2f}x", f"{row['efficiency']:.0%}", against, {True: "pass", False: "FAIL", None: ""}[row.get("holds")]])
    return ["case", "GPUs x batch", "", "pictures or products", "speed-up", "efficiency", "of what independent processes reach", ""], rows


def size_text(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB" if size >= 1 << 10 else f"{size} B"


def move_rows(result):
    rows = [[row["name"], str(row["gpus"]), size_text(row["bytes"]), f"{row['ns'] / 1e3:.4g} us", f"{row['gb_per_s']:.3g}", f"{row['gb_per_s'] / row['limit_gb_per_s']:.0%}"]
            for row in result["moves"].get("collectives", [])]
    return ["what", "GPUs", "a GPU's bytes", "time", "GB/s a link", "of a plain copy"], rows


def model_rows(result):
    rows = [[row["link"], row["name"], f"{row['one_per_s']:.4g}/s, {'measured' if row['measured_here'] else 'given'}", f"{row['gpus']} x {row['batch']:.0f}",
             f"{row['in_turn_per_s']:.4g}/s ({row['in_turn_efficiency']:.0%})", f"{row['overlapped_per_s']:.4g}/s ({row['overlapped_efficiency']:.0%})"]
            for row in result["modelled"]]
    return ["link", "case", "one GPU", "GPUs x batch", "gradients after backward", "gradients beside backward"], rows


ASSUMPTIONS = """Modelled, not measured: GPUs in a ring; the sum of float32 gradients takes 2 (n-1) x (bytes / n / speed + latency); backward is two thirds
of a step; beside backward: buckets of 25 MiB, the last one is waited for; reading data, stragglers and protocols cost nothing.
nvlink is 8 GPUs, 450 GB/s each way, 3 us a message; pcie 4 GPUs, 25 GB/s, 5 us; ethernet100 4 servers of one GPU, 12.5 GB/s, 20 us."""


def overlap_text(o):
    return (f"{o['products']} products and the copies of their results to the host: run {o['run_ms']:.2f} ms, copy {o['copy_ms']:.2f} ms, one after the other "
            f"{o['in_turn_ms']:.2f} ms, overlapped {o['overlapped_ms']:.2f} ms: {o['of_longer']:.2f}x the longer of the two")


def busy(result):
    return result["setting"]["others_share"] > BUSY


def summary(result):
    s = result["setting"]
    return (f"{s['date']} · {s['cpu']}, {s['cores']} cores · {s['device']} · {s['tandem']} ({s['commit']}) · {s['rounds']} rounds forwards and backwards, "
            f"{s['ms']:g} ms a measurement" + (" · QUICK: THE FIGURES MEAN NOTHING" if s["quick"] else "") +
            others_text(s["others_share"]))


def text(result, make_table, heading):
    parts = [summary(result)]
    if result["cases"]:
        parts.append(make_table(*case_rows(result)))
    if "overlap" in result["moves"]:
        parts += [heading + "Copies beside computing", overlap_text(result["moves"]["overlap"])]
    if result["moves"].get("collectives"):
        parts += [heading + "Collectives", make_table(*move_rows(result))]
    if result["modelled"]:
        parts += [heading + "Other links", ASSUMPTIONS, make_table(*model_rows(result))]
    return "\n\n".join(parts)


def main():
    options = parse()
    program = options.build / "bin/tandem_bench"
    if not program.exists():
        fail(f"{program} is not there: build first with ./dev build, or name the build folder with --build DIR")
    wanted = options.only or TRAINING + MOVES
    try:
        together, alone, device, is_virtual = places_of(options.build / "bin/tandem", options, options.gpus[-1])
        others = others_share()
        training = [name for name in TRAINING if name in wanted]
        measurements = len(options.gpus) * (1 if options.no_independent else 2) * 2 * options.rounds
        progress = Progress(max(1, len(training) * measurements))
        cases = []
        for name in training:
            rates, batch = measure_case(name, options, program, (together, alone), progress)
            cases += figures(name, rates, batch, options)
        names = [name for name in MOVES if name in wanted]
        moved = moves(options, program, names, together) if names else {}
        model = modelled(options, program, cases)
        others = max(others, others_share())
    except (BenchError, OSError, subprocess.CalledProcessError) as error:
        fail(error)
    for row in cases:
        if "of_independent" in row and is_virtual and row["name"] in FLOORS and not options.quick and others <= BUSY:
            row["holds"] = row["of_independent"] >= FLOORS[row["name"]]
    result = {
        "setting": {
            **setting(options, others), "device": device, "gpus": options.gpus, "quick": options.quick,
        },
        "cases": cases, "moves": moved, "modelled": model,
    }
    print(json.dumps(result, indent=1) if options.json else text(result, table_text, ""))
    whole = not (options.only or options.quick or options.no_independent)
    short = ", ".join(row["name"] for row in cases if row.get("holds") is False)
    return conclude("parallel", options, result, "# Several GPUs\n\n" + text(result, markdown_table, "## ") + "\n", whole, short)


if __name__ == "__main__":
    sys.exit(main())
