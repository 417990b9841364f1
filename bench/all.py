"""Every benchmark beside PyTorch on this processor, one after the other: with all that it has, and, where that is more than AVX2, with both sides held to AVX2.

Each writes its page into the processor's folder in bench/results, and bench/results/README.md anew. docs/benchmarks.md says what they measure."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import processor
from side_by_side import ROOT
from tables import table_text

NAMES = ("micro", "ops", "work", "python", "generate")
UNHELD = {name: value for name, value in os.environ.items() if name != "TANDEM_ISA"}  # --isa says it to each benchmark
# Rounds and milliseconds of --quick: a look, of which nothing is kept.
QUICK = {"micro": (1, 20), "ops": (1, 5), "work": (1, 100), "python": (1, 20), "generate": (1, None)}


def parse():
    parser = argparse.ArgumentParser(prog="bench/run all", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=NAMES, metavar="NAME", help=f"only this benchmark; may be repeated. Benchmarks: {', '.join(NAMES)}")
    parser.add_argument("--isa", action="append", choices=["best", *processor.LIMITS], metavar="SET",
                        help=f"only this instruction set, of best, {', '.join(processor.LIMITS)}; may be repeated (default: TANDEM_ISA's, else best, and avx2 where that is less)")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of peer, ours, ours, peer (default: as each benchmark has it)")
    parser.add_argument("--ms", type=float, metavar="MS", help="milliseconds a case and run (default: as each benchmark has it)")
    parser.add_argument("--quick", action="store_true", help="one short round of each, to see that they run; keeps nothing")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="write to DIR/PROCESSOR in place of bench/results/PROCESSOR")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", metavar="DIR", help="tandem's build folder (default build/release)")
    parser.add_argument("--list", action="store_true", help="print what would run, and stop")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    options = parser.parse_args()
    options.isa = options.isa or [isa for isa in [processor.asked(parser)] if isa]
    return options


def best_set(build):
    """The best instruction set that this processor has, as the program says where nothing is asked for."""
    program = build / "bin/tandem"
    if not program.exists():
        sys.exit(f"bench all: {program} is not there: build first with ./dev build, or name the build folder with --build DIR")
    described = json.loads(subprocess.run([program, "devices", "--json"], stdout=subprocess.PIPE, env=UNHELD, check=True).stdout)
    return next(device["instruction_set"] for device in described["devices"] if device["device"] == "cpu")


def command(options, name, isa):
    """The call of one benchmark."""
    rounds, ms = QUICK[name] if options.quick else (options.rounds, options.ms)
    call = [ROOT / "bench/run", name, "--build", options.build]
    call += ["--rounds", str(rounds)] if rounds else []
    call += ["--ms", str(ms)] if ms and name != "generate" else []
    call += ["--isa", isa] if isa else []
    call += ["--out", options.out / processor.folder(isa)] if options.out else []
    return call + (["--out", ROOT / "build/bench-quick"] if options.quick and not options.out else [])


def main():
    options = parse()
    sets = options.isa or ["best"] + ["avx2"] * (best_set(options.build) == "avx512")
    runs = [(isa, name) for isa in (None if which == "best" else which for which in sets) for name in options.only or NAMES]
    if options.list:
        print("\n".join(" ".join(map(str, command(options, name, isa))) for isa, name in runs))
        return 0
    rows = []
    for isa, name in runs:
        print(f"== {name}, {processor.name(isa)}", file=sys.stderr, flush=True)
        started = time.monotonic()
        status = subprocess.run([str(part) for part in command(options, name, isa)], stdout=sys.stderr if options.json else None, env=UNHELD).returncode
        rows.append({"benchmark": name, "processor": processor.name(isa), "seconds": round(time.monotonic() - started), "status": status})
        if status == 130:  # Ctrl-C
            break
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        print("\n" + table_text(list(rows[0]), [[str(value) for value in row.values()] for row in rows]))
    return int(any(row["status"] for row in rows))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
