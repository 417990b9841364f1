"""Whole networks: tandem against PyTorch, and for inference against onnxruntime and OpenVINO. docs/benchmarks.md says how it measures."""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import torch_peer
from side_by_side import (BUSY, ROOT, BenchError, Server, add_options, alternate, compare, conclude, environments, others_share, others_text,
                          peer_setting, ratio_text, readable)
from tables import markdown_table

PEERS = ROOT / "bench/peer"
# name, at least how many times the speed of the fastest peer
CASES = {
    "cnn_step": 1.6,
    "gru_step": 4,
    "gru_infer": 3.5,
    "resnet50_infer": 1,
    "densenet121_step": 1.6,
    "lenet_step": 2.2,
    "resnet18_step": 1.6,
    "transformer_step": 3,
    "gpt_step": 1,
    "unet_step": 1,
    "mlp_step": 2,
    "mlp_one": 1,
}
PICTURES = {"cnn_step", "resnet50_infer", "densenet121_step", "lenet_step", "resnet18_step", "unet_step"}
# How the peers run a case, by name: the column's heading.
FORMS = {"default": "PyTorch", "channels_last": "channels last", "compile": "compiled", "onnxruntime": "onnxruntime", "openvino": "OpenVINO"}
EXPORTED = ("onnxruntime", "openvino")
DIFFERS = 3  # as bench/peer/work_side.py


def fail(message):
    print(f"bench work: {message}", file=sys.stderr)
    sys.exit(1)


def parse():
    parser = argparse.ArgumentParser(prog="bench/run work", description=__doc__)
    add_options(parser)
    parser.add_argument("--only", action="append", choices=list(CASES), metavar="NAME", help=f"only this case; may be repeated. Cases: {', '.join(CASES)}")
    usual = [form for form in FORMS if form != "compile"]
    parser.add_argument("--forms", type=lambda text: text.split(","), default=usual, metavar="NAME,…",
                        help=f"how the peers run, of {', '.join(FORMS)} (default: all but compile, which takes minutes to begin)")
    parser.add_argument("--ms", type=float, default=1000, metavar="MS", help="milliseconds a case and run (default 1000)")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        help="write work.md and work.json there (default the processor's folder in bench/results for a whole run, nothing for a partial one)")
    parser.add_argument("--check", action="store_true", help="exit 1 where a floor does not hold")
    options = parser.parse_args()
    if options.rounds < 1 or options.threads < 1 or options.ms <= 0:
        parser.error("--rounds and --threads must be at least 1, --ms above 0")
    for form in options.forms:
        if form not in FORMS:
            parser.error(f"--forms: there is no form '{form}'. There are: {', '.join(FORMS)}")
    if "default" not in options.forms:
        parser.error("--forms must name default, which every case has")
    options.whole = not options.only and not options.no_peer and set(usual) <= set(options.forms) and not options.peer_keeps_memory
    return options


def forms_of(name, chosen):
    """The forms that a case has."""
    without = set() if name in PICTURES else {"channels_last"}
    if name.endswith("_step"):
        without |= set(EXPORTED)
    return [form for form in FORMS if form in chosen and form not in without]


def finished(command, environment):
    """What a program that has to succeed wrote to standard output."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(map(str, command))} ended with {done.returncode}: {(done.stderr.strip().splitlines() or ['it printed nothing'])[-1]}")
    return done.stdout


class Bench:
    """One run of this script: its options, the programs of both sides and their environments."""

    def __init__(self, options, python, say):
        self.options, self.python, self.say = options, python, say
        self.program = options.build / "bin/tandem_bench"
        self.environment, self.peer_environment = environments(options)
        self.skipped = []  # case, form, reason
        self.libraries = {}

    def ours(self, *arguments):
        return finished([self.program, "work", "--threads", self.options.threads, *arguments], self.environment)

    def peer_command(self, name, form, folder):
        script = "work_onnx.py" if form in EXPORTED else "work_torch.py"
        return [self.python, "-B", PEERS / script, "--case", name, "--form", form, "--data", folder, "--threads", str(self.options.threads), "--ms",
                str(self.options.ms), "--serve"]

    def start_peer(self, name, form, folder):
        """A process that has compared its output with ours; None where the form can't run the case, which is noted."""
        server = Server(self.peer_command(name, form, folder), self.peer_environment)
        try:
            server.wait_until_ready()
        except BenchError as error:
            code = server.process.returncode
            server.close()
            if code == DIFFERS or form == "default":
                raise
            self.skip(name, form, error)
            return None
        return server

    def skip(self, name, form, error):
        self.skipped.append({"case": name, "form": form, "reason": str(error).rsplit(": ", 1)[-1]})
        self.say(f"{name}: {FORMS[form]} is left out: {self.skipped[-1]['reason']}")

    def start_peers(self, name, folder, stack):
        self.ours("--case", name, "--save", folder)
        forms = forms_of(name, self.options.forms)
        if self.options.isa:
            for form in [form for form in forms if form in EXPORTED]:
                self.skip(name, form, f"it cannot be held to {self.options.isa}")
                forms.remove(form)
        if set(forms) & set(EXPORTED):
            try:
                finished([self.python, "-B", PEERS / "work_torch.py", "--case", name, "--data", folder, "--export", pathlib.Path(folder) / f"{name}.onnx"],
                         self.peer_environment)
            except BenchError as error:
                for form in set(forms) & set(EXPORTED):
                    self.skip(name, form, error)
                forms = [form for form in forms if form not in EXPORTED]
        servers = {}
        for form in forms:
            self.say(f"{name}: starting {FORMS[form]}")
            server = self.start_peer(name, form, folder)
            if server:
                stack.callback(server.close)
                servers[form] = server
        return servers

    def measure(self, name):
        """The documents of all runs of each form, and of our side, in order."""
        with contextlib.ExitStack() as stack:
            servers = {}
            if not self.options.no_peer:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tandem-bench-"))
                servers = self.start_peers(name, folder, stack)
            command = [self.program, "work", "--case", name, "--threads", str(self.options.threads), "--ms", str(self.options.ms), "--serve"]
            servers["ours"] = Server(command, self.environment)
            stack.callback(servers["ours"].close)
            servers["ours"].wait_until_ready()

            def run(server):
                server.ask("")
                return server.answer()

            sides = {side: lambda server=server: run(server) for side, server in servers.items()}
            return alternate(self.options.rounds, sides, lambda text: self.say(f"{name}: {text}"))

    def case(self, listed, peak):
        """The figures of a case."""
        name = listed["name"]
        documents = self.measure(name)
        runs = {side: [{name: document["results"][0]["ns"]} for document in given] for side, given in documents.items()}
        memory = {side: max(document["peak_memory_bytes"] for document in given) for side, given in documents.items()}
        self.libraries |= {form: given[0]["library"] for form, given in documents.items() if form != "ours"}
        forms = {form: {**compare(name, {"peer": runs[form], "ours": runs["ours"]}), "peak_memory_bytes": memory[form]} for form in runs if form != "ours"}
        case = {"name": name, "what": listed["what"], "at_least": CASES[name], "ours_ns": statistics.median(run[name] for run in runs["ours"]),
                "ours_peak_memory_bytes": memory["ours"], "flops": listed["flops"], "forms": forms, "holds": None}
        case["share"] = case["flops"] / case["ours_ns"] / peak
        if forms:
            case["best"] = min(forms, key=lambda form: forms[form]["peer_ns"])
            case |= {key: forms[case["best"]][key] for key in ("ratio", "lowest", "highest", "fastest_ratio", "pairs", "collapsed")}
            case["holds"] = case["ratio"] >= case["at_least"]
        return case


def header(options):
    peers = [] if options.no_peer else [FORMS[form] for form in FORMS if form in options.forms]
    return ("case", *peers, "tandem", "ratio (range)", "floor", "of peak", "memory" + ": tandem, fastest peer" * bool(peers), "")


def row(case, options, busy):
    """The table's row, a cell for each of header()."""
    cells = []
    for form in [] if options.no_peer else [form for form in FORMS if form in options.forms]:
        figures = case["forms"].get(form)
        cells.append(readable(figures["peer_ns"]) + " *" * (form == case.get("best")) if figures else "")
    ratio = ratio_text(case) if "ratio" in case else ""
    memory = f"{case['ours_peak_memory_bytes'] / 1e6:.0f} MB"
    if "best" in case:
        memory += f", {case['forms'][case['best']]['peak_memory_bytes'] / 1e6:.0f} MB"
    verdict = "" if case["holds"] is None and not busy else "not counted" if busy else "pass" if case["holds"] else "FAIL"
    return (case["name"], *cells, readable(case["ours_ns"]), ratio, f">= {case['at_least']:g}x", f"{case['share']:.0%}", memory, verdict)


def widths(options):
    """Of the terminal's columns: rows are printed before the next ones are known."""
    peers = [] if options.no_peer else [max(10, len(FORMS[form])) for form in FORMS if form in options.forms]
    return (16, *peers, 8, 18, 8, 7, 28, 11)


def print_row(cells, options):
    if not options.json:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths(options))).rstrip(), flush=True)


def busy(others):
    return others > BUSY


def summary(result):
    s = result["setting"]
    peers = ", ".join(dict.fromkeys(s["peers"].values())) or "no peer"
    return (f"{s['date']} · {s['cpu']}, {s['cores']} cores, {s['peak_gflops']:.0f} GFLOP/s · {s['threads']} threads each · {s['tandem']} ({s['commit']}) "
            f"against {peers}{' keeping freed memory' if s['peer_keeps_memory'] else ''} · {s['rounds']} rounds of A-B-B-A, {s['ms']:g} ms a case" +
            others_text(s["others_share"]))


def notes(result):
    return [f"{skip['case']}: {FORMS[skip['form']]} was left out: {skip['reason']}" for skip in result["skipped"]]


def markdown(result, options):
    lines = ["# Whole networks", "", summary(result), "",
             "Times are medians; the ratio is the time of the fastest peer, marked with *, over ours. How it measures: `docs/benchmarks.md`.", "",
             markdown_table(header(options), [[cell.replace("*", "\\*") for cell in row(case, options, busy(result["setting"]["others_share"]))] for case in result["cases"]])]
    return "\n".join(lines + [""] * bool(result["skipped"]) + [f"- {note}" for note in notes(result)]) + "\n"


def main():
    options = parse()
    say = lambda text: print(f"{text}…", file=sys.stderr, flush=True)
    python = None
    if not options.no_peer:
        try:
            python = torch_peer.install_for_python(options.venv.expanduser().absolute())
        except torch_peer.PeerError as error:
            fail(f"the peer is not available. {error}\n--no-peer measures tandem alone; --venv DIR takes an environment that has torch {torch_peer.WANTED}.")
    bench = Bench(options, python, say)
    if not bench.program.exists():
        fail(f"{bench.program} is not there: build first with ./dev build, or name the build folder with --build DIR")

    others = others_share()
    if busy(others):
        say(f"other work takes {others:.0%} of the machine: the figures will not count")
    try:
        listed = json.loads(bench.ours("--list", "--json", *[part for name in options.only or [] for part in ("--case", name)]))
        print_row(header(options), options)
        cases = []
        for entry in listed["cases"]:
            cases.append(bench.case(entry, listed["peak_gflops"]))
            others = max(others, others_share())  # it may have come in the meantime
            print_row(row(cases[-1], options, busy(others)), options)
    except BenchError as error:
        fail(error)

    result = {
        "setting": {**peer_setting(options, others), "peak_gflops": listed["peak_gflops"], "peers": bench.libraries},
        "cases": cases,
        "skipped": bench.skipped,
    }
    if busy(others):
        for case in cases:
            case["holds"] = None
    print(json.dumps(result, indent=1) if options.json else "\n".join(["", summary(result), *notes(result)]))

    short = ", ".join(case["name"] for case in cases if case["holds"] is False)
    return conclude("work", options, result, markdown(result, options), options.whole, short)


if __name__ == "__main__":
    sys.exit(main())
