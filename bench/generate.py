"""Text written by language models, token by token: `tandem generate` beside a loop in PyTorch's eager mode, on the same random weights.

Both keep keys and values, take the likeliest token and must write the same text. docs/benchmarks.md says how it measures."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import torch_peer
from side_by_side import (BUSY, ROOT, BenchError, add_options, alternate, compare, conclude, environments, measured, others_share, others_text,
                          peer_setting, ratio_text)
from tables import markdown_table, table_text

PROMPT = "The weights are random, so this is nonsense: "
CASES = {"llama": "Llama's shape, 135 million parameters (SmolLM2-135M), float32", "gpt2": "GPT-2, 124 million parameters, float32"}


def fail(message):
    print(f"bench generate: {message}", file=sys.stderr)
    sys.exit(1)


def parse():
    parser = argparse.ArgumentParser(prog="bench/run generate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--only", action="append", choices=list(CASES), metavar="NAME", help=f"only this model; may be repeated. Models: {', '.join(CASES)}")
    parser.add_argument("--tokens", type=int, default=64, metavar="N", help="tokens that are written in a run, after a prompt of 45 (default 64)")
    parser.add_argument("--peer-python", type=pathlib.Path, metavar="PROGRAM", help="a Python that imports torch and safetensors, in place of the environment of --venv")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="write generate.md and generate.json there (default the processor's folder in bench/results for a whole run, nothing for a partial one)")
    parser.add_argument("--check", action="store_true", help="exit 1 where PyTorch is faster")
    options = parser.parse_args()
    if options.no_peer:
        parser.error("the weights are PyTorch's: there is no --no-peer here; `tandem generate --json` tells its speed alone")
    if options.rounds < 1 or options.threads < 1 or options.tokens < 1:
        parser.error("--rounds, --threads and --tokens must be at least 1")
    options.ms = 0
    return options


def ours(options, folder, names, environment):
    """Seconds a token of each model, as the peer's program tells them."""
    figures, texts = {}, {}
    for name in names:
        command = [options.build / "bin/tandem", "generate", f"{folder}/{name}", PROMPT, "--tokens", str(options.tokens), "--device", "cpu", "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**environment, "TANDEM_NUM_THREADS": str(options.threads)})
        if done.returncode != 0:
            raise BenchError(f"tandem generate ended with {done.returncode}: {(done.stderr.strip().splitlines() or ['it printed nothing'])[-1]}")
        answer = json.loads(done.stdout)
        figures[name], texts[name] = answer["seconds"] * 1e9 / answer["new_tokens"], answer["text"]
    return figures, {"texts": texts}


HEADER = ("model", "PyTorch", "tandem", "ratio (range)")


def main():
    options = parse()
    if not (options.build / "bin/tandem").exists():
        fail(f"{options.build}/bin/tandem is missing: ./dev build makes it; or name the build folder with --build DIR")
    environment, peer_environment = environments(options)
    try:
        python = options.peer_python or torch_peer.install_for_python(options.venv.expanduser().absolute())
    except torch_peer.PeerError as error:
        fail(f"the peer is not available. {error}\n--peer-python names a Python that imports torch and safetensors.")
    say = lambda text: print(f"{text}…", file=sys.stderr, flush=True)
    names = options.only or list(CASES)
    with tempfile.TemporaryDirectory() as folder:
        say("writing models with random weights")
        peer = [python, "-B", ROOT / "bench/peer/generate_torch.py", "--data", folder]
        written = subprocess.run([*peer, "--write"], stderr=subprocess.PIPE, text=True, env=peer_environment)
        if written.returncode != 0:
            fail(f"the models could not be written: {(written.stderr.strip().splitlines() or ['it printed nothing'])[-1]}")
        command = [*peer, "--prompt", PROMPT, "--tokens", str(options.tokens), "--threads", str(options.threads), *(part for name in names for part in ("--only", name))]
        others = others_share()
        if others > BUSY:
            say(f"other work takes {others:.0%} of the machine: the figures will not count")
        sides = {"peer": lambda: measured(command, peer_environment), "ours": lambda: ours(options, folder, names, environment)}
        try:
            results = alternate(options.rounds, sides, say)
        except BenchError as error:
            fail(error)
    runs = {side: [figures for figures, _ in all_runs] for side, all_runs in results.items()}
    texts = {side: all_runs[0][1]["texts"] for side, all_runs in results.items()}
    for name in names:
        theirs, its = (re.sub("[^a-zA-Z]", "", texts[side][name]) for side in ("peer", "ours"))  # bytes alone may be no characters
        if theirs != its:
            fail(f"{name}: the texts differ: PyTorch wrote {theirs[:60]!r}, tandem {its[:60]!r}")
    cases = [{"name": name, "what": CASES[name], **compare(name, runs)} for name in names]
    setting = {**peer_setting(options, others), "tokens": options.tokens, "peer": results["peer"][0][1]["library"]}
    rows = [(case["what"], *(f"{1e9 / case[side]:.1f} tokens/s" for side in ("peer_ns", "ours_ns")), ratio_text(case)) for case in cases]
    s = setting
    summary = (f"{s['date']} · {s['cpu']}, {s['cores']} cores · {s['threads']} threads each · {s['tandem']} ({s['commit']}) against {s['peer']} · {s['tokens']} tokens after a prompt of {len(PROMPT)} · "
               f"{s['rounds']} rounds of A-B-B-A" + others_text(s["others_share"]))
    text = "\n".join(["# Language models writing text", "", summary, "", "Speeds are of median times, the prompt included; the ratio is PyTorch's time over ours.", "",
                      markdown_table(HEADER, rows)]) + "\n"
    result = {"setting": setting, "cases": cases}
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        print(table_text(HEADER, rows))
    short = ", ".join(case["name"] for case in cases if case["ratio"] < 1)
    sys.exit(conclude("generate", options, result, text, not options.only, short))


if __name__ == "__main__":
    main()
