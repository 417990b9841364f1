"""What the smallest things cost: tandem against libtorch, and four figures of our own. docs/benchmarks.md says how it measures."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch_peer
from side_by_side import (BUSY, ROOT, BenchError, add_options, compare, conclude, environments, first_line, others_share, others_text, peer_setting,
                          ratio_text, readable, run_rounds)
from tables import markdown_table, table_text

# name, what it is, at least how many times the peer's speed
COMPARED = [
    ("empty", "empty tensor of 1 element", 3),
    ("add", "add of 1 element", 3),
    ("add_backward", "add of 1 element, with backward", 5),
    ("ten_mul_backward", "ten multiplications by a scalar and a sum, with backward", 5),
    ("linear_regression", "linear regression step, batch 32", 4),
    ("mlp_128", "MLP 784-256-128-10 Adam step, batch 128", 2),
    ("mlp_8", "MLP 784-256-128-10 Adam step, batch 8", 3),
    ("matmul_256", "matmul 256x256", 1.9),
    ("matmul_1024", "matmul 1024x1024", 1.9),
    ("add_10m", "add of 10M", 3),
    ("exp_1m", "exp of 1M", 3),
    ("tanh_1m", "tanh of 1M", 3),
]
# name, what it is, unit, at most
OWN = [
    ("queue", "queueing a small operation on a virtual GPU, caller's time", "us", 2),
    ("start", "program start (tandem --version)", "ms", 15),
    ("size", "libtandem.so as installed, stripped", "MB", 12),
    ("compile", "compiling twenty lines with <tandem/tandem.h> (-O1)", "s", 2.5),
]

TWENTY_LINES = """#include <tandem/tandem.h>
#include <iostream>
namespace td = tandem;
struct Net : td::nn::Module {
  td::nn::Linear hidden{4, 8}, output{8, 3};
  void fields(td::nn::Fields& f) override {
    f("hidden", hidden);
    f("output", output);
  }
  td::Tensor forward(const td::Tensor& x) override { return output(td::relu(hidden(x))); }
};
int main() {
  Net net;
  td::optim::Adam adam(net.parameters(), {.lr = 0.01});
  const auto x = td::randn({16, 4});
  const auto loss = td::cross_entropy(net(x), td::argmax(x.slice(1, 0, 3), 1));
  loss.backward();
  adam.step();
  std::cout << loss << "\\n";
}
"""


def fail(message):
    print(f"bench micro: {message}", file=sys.stderr)
    sys.exit(1)


def parse():
    names = [row[0] for row in COMPARED + OWN]
    parser = argparse.ArgumentParser(prog="bench/run micro", description=__doc__)
    add_options(parser)
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"only this case; may be repeated. Cases: {', '.join(names)}")
    parser.add_argument("--ms", type=float, default=200, metavar="MS", help="milliseconds a case and run (default 200)")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        help="write micro.md and micro.json there (default the processor's folder in bench/results for a whole run, nothing for a partial one)")
    parser.add_argument("--check", action="store_true", help="exit 1 where a floor does not hold")
    options = parser.parse_args()
    if options.rounds < 1 or options.threads < 1 or options.ms <= 0:
        parser.error("--rounds and --threads must be at least 1, --ms above 0")
    return options


def program_start(program):
    times = []
    for _ in range(34):
        start = time.perf_counter()
        subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, check=True)
        times.append((time.perf_counter() - start) * 1e3)
    return times[3:]


def install_tandem(build, prefix):
    done = subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--strip"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        fail(f"cmake --install {build} failed:\n{done.stdout.strip()[-800:]}")


def library_size(prefix):
    libraries = [path for path in prefix.rglob("libtandem.so*") if not path.is_symlink()]
    if not libraries:
        fail("the installation holds no libtandem.so")
    return [libraries[0].stat().st_size / 1e6]


def compile_time(prefix):
    source = prefix / "twenty.cpp"
    source.write_text(TWENTY_LINES)
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-I", prefix / "include", "-c", source, "-o", prefix / "twenty.o"]
    times = []
    for _ in range(3):
        start = time.perf_counter()
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "CCACHE_DISABLE": "1"})
        times.append(time.perf_counter() - start)
        if done.returncode != 0:
            fail(f"the twenty lines do not compile: {next((l for l in done.stderr.splitlines() if 'error' in l), done.stderr[-300:])}")
    return times


def own_figures(options, runs, wanted, say):
    values = {}
    if "queue" in wanted:
        values["queue"] = [run["queue"] / 1e3 for run in runs["ours"]]
    if "start" in wanted:
        say("program start")
        values["start"] = program_start(options.build / "bin/tandem")
    if wanted & {"size", "compile"}:
        with tempfile.TemporaryDirectory(prefix="tandem-bench-") as folder:
            prefix = pathlib.Path(folder)
            install_tandem(options.build, prefix)
            if "size" in wanted:
                values["size"] = library_size(prefix)
            if "compile" in wanted:
                say("compile time")
                values["compile"] = compile_time(prefix)
    return values


def busy(result):
    return result["setting"]["others_share"] > BUSY


def rows(result):
    """The table's rows, a cell for each of HEADER."""
    out = []
    for case in result["cases"]:
        verdict = {True: "pass", False: "FAIL", None: "not counted" if busy(result) else ""}[case["holds"]]
        if "unit" in case:
            spread = f" ({case['lowest']:.3g}-{case['highest']:.3g})" if case["lowest"] != case["highest"] else ""
            out.append((case["what"], "", f"{case['value']:.3g} {case['unit']}", spread.strip(), "", f"<= {case['at_most']:g} {case['unit']}", verdict))
        elif "ratio" in case:
            out.append((case["what"], readable(case["peer_ns"]), readable(case["ours_ns"]),
                        ratio_text(case), f"{case['fastest_ratio']:.2f}x",
                        f">= {case['at_least']:g}x", verdict))
        else:
            out.append((case["what"], "", readable(case["ours_ns"]), "", "", f">= {case['at_least']:g}x", verdict))
    return out


HEADER = ("case", "PyTorch", "tandem", "ratio (range)", "fastest runs", "floor", "")


def terminal(result):
    return table_text(HEADER, rows(result))


def summary(result):
    s = result["setting"]
    peer = f"libtorch {s['peer']}" + (" keeping freed memory" if s["peer_keeps_memory"] else "") if s["peer"] else "no peer"
    return (f"{s['date']} · {s['cpu']}, {s['cores']} cores · {s['threads']} threads each · {s['tandem']} ({s['commit']}) against {peer} · "
            f"{s['compiler']} · {s['rounds']} rounds of A-B-B-A, {s['ms']:g} ms a case" +
            others_text(s["others_share"]))


def markdown(result):
    lines = ["# Micro benchmark", "", summary(result), "", "Times are medians; the ratio is PyTorch's time over ours. How it measures: `docs/benchmarks.md`.", "",
             markdown_table(HEADER, rows(result))]
    return "\n".join(lines) + "\n"


def main():
    options = parse()
    benchmarks = options.build / "bin/tandem_bench"
    if not benchmarks.exists():
        fail(f"{benchmarks} is not there: build first with ./dev build, or name the build folder with --build DIR")
    wanted = set(options.only or [row[0] for row in COMPARED + OWN])
    timed = [row[0] for row in COMPARED if row[0] in wanted]
    say = lambda text: print(f"{text}…", file=sys.stderr, flush=True)

    environment, peer_environment = environments(options)
    chosen = lambda names: [part for name in names for part in ("--only", name)]
    common = ["--threads", str(options.threads), "--ms", str(options.ms)]
    ours = peer = peer_version = None
    if timed or "queue" in wanted:
        ours = ([benchmarks, "micro", "--json", *common, *chosen(timed + ["queue"] * ("queue" in wanted))], environment)
    if timed and not options.no_peer:
        try:
            site, peer_version = torch_peer.install(options.venv.expanduser().absolute())
            binary = torch_peer.compile_program(ROOT / "bench/peer/micro_torch.cpp", ROOT, site, peer_version)
        except torch_peer.PeerError as error:
            fail(f"the peer is not available. {error}\n--no-peer measures tandem alone; --venv DIR takes an environment that has torch {torch_peer.WANTED}.")
        peer = ([binary, *common, *chosen(timed)], peer_environment)

    others = others_share()
    if others > BUSY:
        say(f"other work takes {others:.0%} of the machine: the figures will not count")
    runs = {"peer": [], "ours": []}
    if ours:
        try:
            runs, _ = run_rounds(options.rounds, ours, peer, say)
        except BenchError as error:
            fail(error)
    own = own_figures(options, runs, wanted, say)
    others = max(others, others_share())

    cases = []
    for name, what, at_least in COMPARED:
        if name not in wanted:
            continue
        case = {"name": name, "what": what, "at_least": at_least}
        if peer:
            case |= compare(name, runs)
            case["holds"] = case["ratio"] >= at_least
        else:
            case |= {"ours_ns": statistics.median(run[name] for run in runs["ours"]), "holds": None}
        cases.append(case)
    for name, what, unit, at_most in OWN:
        if name in wanted:
            value = statistics.median(own[name])
            cases.append({"name": name, "what": what, "unit": unit, "value": value, "lowest": min(own[name]), "highest": max(own[name]),
                          "at_most": at_most, "holds": value <= at_most})

    result = {
        "setting": {**peer_setting(options, others), "peer": peer_version, "compiler": first_line([os.environ.get("CXX", "g++"), "--version"])},
        "cases": cases,
    }
    if busy(result):
        for case in cases:
            case["holds"] = case["holds"] if case["name"] == "size" else None
    print(json.dumps(result, indent=1) if options.json else f"{summary(result)}\n\n{terminal(result)}")

    short = ", ".join(case["name"] for case in cases if case["holds"] is False)
    whole = peer and not options.only and not options.peer_keeps_memory
    return conclude("micro", options, result, markdown(result), whole, short, unchecked="no floor on a time was")


if __name__ == "__main__":
    sys.exit(main())
