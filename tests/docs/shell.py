"""The shell lines of README and of the pages in docs/ run, as a user would copy them, each in an empty folder: shell.py ROOT PROGRAM.

A line is one of a block marked `sh`, one of an unmarked block or a piece of code in a sentence that begins as a call does. What stands for the user's own
program (./train, ./program, ./net) is a short training. A line that cannot run here stands in NOT_RUN with its reason; a reason that no line needs is a fault.
"""

import concurrent.futures
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

root, program = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
NOT_RUN = {
    r"(GTEST_FILTER=\S+ |TANDEM_VIRTUAL_GPUS=\d |PYTHON=\S+ )?\./dev\b|\.ci/": "builds the tree, and installs packages for it",
    r"bench/run |(TANDEM\S+ )*build/release/bin/(tandem_bench|test_ops)": "needs the benchmarks and tests of a build in build/release",
    r"git log": "shows the repository's history",
    r"g\+\+ ": "needs an installed tandem: docs/guides compiles the program, .ci/packages runs such a line",
    r"cmake ": "needs an installed tandem: .ci/packages runs such a line",
    r"(TANDEM\S+ )*build/examples/|export TANDEM_VIRTUAL_GPUS=": "is run by observe/seeing, or needs an installed tandem",
    r"pip install|apt-get": "installs packages",
    r"mpirun|tandem launch --hosts": "needs MPI and several hosts: tests/mpi and tests/launch run such lines",
    r"tandem launch -n 2 step3_ranks|tandem trace .*build/examples/": "needs the examples, built with an installed tandem",
    r"tandem board|tandem smi --watch": "goes on until it is stopped: cli/board runs it",
    r"tandem \S+.*[\[…]|tandem (train RECIPE|inspect FILE|launch -n N|\S+ CHECKPOINT|--version \|)|tandem trace PROGRAM": "is the form of a call, not one",
    r"tandem generate": "needs a language model's files: cli/generate runs such a line",
    r"tandem train --tensorboard$": "is an option, without a recipe",
}
# Shorter, not otherwise: fewer seeds, fewer batches.
SHORTER = [(r"\$\(seq 50\)", "$(seq 2)"), (r"\|\| echo .*; done", "|| exit 1; done"), (r"^(tandem train digits\b.*)$", r"\1 --epochs 1 --limit-batches 2")]
CALL = re.compile(r"\$ |(?:[A-Z_]+=\S+ )*(?:tandem (?:--|[a-z]+\b)|\./(?:train|program|net|dev)\b|build/(?:release|examples)/|bench/run |mpirun |git log |\.ci/\w+)|for \w+ in ")


def lines_of(page):
    """(number of the line, call) of each shell line."""
    language, shows_output, found = None, False, []
    texts = page.read_text().splitlines()
    for number, text in enumerate(texts, 1):
        if text.startswith("```"):
            language = text[3:].strip() if language is None else None
            shows_output = number < len(texts) and texts[number].startswith("$ ")  # then calls are the lines with a prompt
        elif language == "sh" or (language == "" and CALL.match(text) and (text.startswith("$ ") or not shows_output)):
            call = re.sub(r"^\$ ", "", re.split(r"\s+# |   +", text)[0]).strip()
            if call and not call.startswith("#"):
                found.append((number, call))
        elif language is None:
            found += [(number, code) for code in re.findall(r"`([^`]+)`", text)
                      if re.match(r"(?:[A-Z_]+=\S+ )*(?:tandem [a-z]+ \S|\./(?:train|program|net)\b)", code)]
    return found


def picture():
    """A digit of sorts, as PNG."""
    rows = b"".join(b"\0" + bytes(255 if 9 <= x <= 12 and 3 <= y <= 20 else 0 for x in range(24)) for y in range(24))
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", 24, 24, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)


def model():
    """Three tensors, as safetensors."""
    header = (b'{"__metadata__":{"made_by":"me"},"steps":{"dtype":"I64","shape":[],"data_offsets":[0,8]},'
              b'"fc.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},"fc.bias":{"dtype":"BF16","shape":[2],"data_offsets":[32,36]}}')
    return struct.pack("<Q", len(header)) + header + bytes(36)


def run(where, call):
    """What is wrong, or nothing."""
    for pattern, shorter in SHORTER:
        call = re.sub(pattern, shorter, call)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        bin_folder = pathlib.Path(folder, "bin").absolute()
        bin_folder.mkdir()
        (bin_folder / "tandem").symlink_to(program)
        work = pathlib.Path(folder, "empty")
        work.mkdir()
        if " train.py" in call:
            (work / "train.py").write_text(f'import os\nos.execv("{program}", ["tandem", "train", "linear", "--quiet"])\n')
        for name in ("train", "program", "net"):
            if f"./{name}" in call:
                (work / name).write_text(f'#!/bin/sh\nexec "{program}" train linear --quiet "$@"\n')
                (work / name).chmod(0o755)
        environment = {"TANDEM_VIRTUAL_GPUS": "4x256MiB", **os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
        options = {"cwd": work, "env": environment, "capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "timeout": 300}
        if "tandem predict" in call:  # of what was trained before
            for name in re.findall(r"\S+\.(?:png|jpg)", call):
                (work / name).write_bytes(picture())
            subprocess.run([program, "train", "digits", "--epochs", "1", "--limit-batches", "2", "--quiet", "--out", "runs/digits"], check=True, **options)
        if re.match("tandem (inspect|convert)", call):
            (work / "model.safetensors").write_bytes(model())
            (work / "model.gguf").write_bytes((root / "tests/io/gguf_blocks.gguf").read_bytes())
        if "tandem onnx" in call:  # a model that takes x
            (work / "model.onnx").write_bytes((root / "tests/fuzz/corpus/onnx/conv").read_bytes())
            header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 4, 4), }".ljust(117) + b"\n"
            with zipfile.ZipFile(work / "input.npz", "w") as archive:
                archive.writestr("x.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(64))
        ran = subprocess.run(["bash", "-c", call], **options)
    return f"{where}: `{call}` ended with {ran.returncode}:\n{(ran.stdout + ran.stderr)[-1500:]}" if ran.returncode else ""


pages = [root / "README.md", *sorted((root / "docs").glob("*.md")), *sorted((root / "docs" / "guide").glob("*.md"))]
calls, used, left_out = {}, set(), 0
for page in pages:
    for number, call in lines_of(page):
        reasons = [pattern for pattern in NOT_RUN if re.match(pattern, call)]
        used.update(reasons)
        left_out += bool(reasons)
        if not reasons:
            calls.setdefault(call, f"{page.relative_to(root)}:{number}")
if os.environ.get("SHOW"):
    print("\n".join(f"{where}: {call}" for call, where in calls.items()))
faults = [f"NOT_RUN: no line is left out because it {NOT_RUN[pattern]} ({pattern})" for pattern in NOT_RUN if pattern not in used]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    faults += [fault for fault in pool.map(run, calls.values(), calls) if fault]
print("\n".join(faults) or f"{len(calls)} lines run in an empty folder, {left_out} are left out with a reason")
sys.exit(1 if faults or not calls else 0)
