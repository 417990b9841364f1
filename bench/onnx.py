"""ONNX graphs of yours, one inference in tandem and one in onnxruntime, on the same arrays and threads. docs/benchmarks.md says how it measures."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import torch_peer
from side_by_side import (BUSY, ROOT, BenchError, add_options, compare, conclude, environments, others_share, others_text, peer_setting, ratio_text,
                          readable, run_rounds)
from tables import markdown_table, table_text


def fail(message):
    print(f"bench onnx: {message}", file=sys.stderr)
    sys.exit(1)


def parse():
    parser = argparse.ArgumentParser(prog="bench/run onnx", description=__doc__)
    add_options(parser)
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL", help="an ONNX file")
    parser.add_argument("--sizes", action="append", default=[], metavar="INPUT=N,N", help="sizes of an input that a file leaves open: x=1,3,48,320 (1 otherwise)")
    parser.add_argument("--ms", type=float, default=2000, metavar="MS", help="milliseconds a model and run (default 2000)")
    parser.add_argument("--peer-python", type=pathlib.Path, metavar="PROGRAM", help="a Python that imports onnxruntime, in place of the environment of --venv")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="write onnx.md and onnx.json there (default nowhere: the models are yours)")
    parser.add_argument("--check", action="store_true", help="exit 1 where onnxruntime is faster")
    options = parser.parse_args()
    if options.no_peer:
        parser.error("the arrays are onnxruntime's: there is no --no-peer here; `tandem onnx run --repeat` times tandem alone")
    if options.isa:
        parser.error(f"onnxruntime cannot be held to {options.isa}: there is no --isa here")
    if options.rounds < 1 or options.threads < 1 or options.ms <= 0:
        parser.error("--rounds and --threads must be at least 1, --ms above 0")
    for model in options.models:
        if not model.is_file():
            parser.error(f"there is no file {model}")
    return options


HEADER = ("model", "onnxruntime", "tandem", "ratio (range)")


def main():
    options = parse()
    program = options.build / "bin/tandem_bench"
    if not program.exists():
        fail(f"{program} is missing: ./dev bench builds it; or name the build folder with --build DIR")
    environment, peer_environment = environments(options)
    try:
        python = options.peer_python or torch_peer.install_for_python(options.venv.expanduser().absolute())
    except torch_peer.PeerError as error:
        fail(f"the peer is not available. {error}\n--peer-python names a Python that imports onnxruntime.")
    say = lambda text: print(f"{text}…", file=sys.stderr, flush=True)
    models = [str(model.absolute()) for model in options.models]
    with tempfile.TemporaryDirectory() as data:
        peer = [python, "-B", ROOT / "bench/peer/onnx_side.py", *models, "--data", data]
        sizes = [part for text in options.sizes for part in ("--sizes", text)]
        written = subprocess.run([*peer, "--write", *sizes], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=peer_environment)
        if written.returncode != 0:
            fail(f"onnxruntime did not run the models: {(written.stderr.strip().splitlines() or ['it printed nothing'])[-1]}")
        common = ["--threads", str(options.threads), "--ms", str(options.ms)]
        others = others_share()
        if others > BUSY:
            say(f"other work takes {others:.0%} of the machine: the figures will not count")
        try:
            runs, documents = run_rounds(options.rounds, ([program, "onnx", *models, "--data", data, *common], environment), ([*peer, *common], peer_environment), say)
        except BenchError as error:
            fail(error)
    cases = [{"name": model, "what": pathlib.Path(model).stem, **compare(model, runs)} for model in models]
    setting = {**peer_setting(options, others), "peer": documents["peer"][0]["library"]}
    rows = [(case["what"], readable(case["peer_ns"]), readable(case["ours_ns"]), ratio_text(case)) for case in cases]
    s = setting
    summary = (f"{s['date']} · {s['cpu']}, {s['cores']} cores · {s['threads']} threads each · {s['tandem']} ({s['commit']}) against {s['peer']} · {s['rounds']} rounds of A-B-B-A, "
               f"{s['ms']:g} ms a model" + others_text(s["others_share"]))
    text = "\n".join(["# ONNX graphs beside onnxruntime", "", summary, "", "Times are medians; the ratio is onnxruntime's time over ours.", "",
                      markdown_table(HEADER, rows)]) + "\n"
    result = {"setting": setting, "cases": cases}
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        print(table_text(HEADER, rows))
    short = ", ".join(case["what"] for case in cases if case["ratio"] < 1)
    sys.exit(conclude("onnx", options, result, text, False, short))


if __name__ == "__main__":
    main()
