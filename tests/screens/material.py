"""What the screens show: runs, a report, a page of memory, flame graphs, made anew by the programs themselves."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import events

GPUS = "2x64MiB"
# Of six runs of the digits: what `tandem train digits` is told.
SIX = {"mlp-0.1": "--net mlp --lr 0.1", "mlp-0.01": "--net mlp --lr 0.01", "mlp-0.001": "--net mlp --lr 0.001", "cnn-0.1": "--lr 0.1",
       "cnn-0.01": "--lr 0.01", "cnn-batch50": "--batch 50"}


def call(command, folder, **environment):
    done = subprocess.run([str(part) for part in command], cwd=folder, env={**os.environ, "TANDEM_VIRTUAL_GPUS": GPUS, "TANDEM_SEED": "0", **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-3000:]}")


def train(tandem, out, words, epochs, **environment):
    call([tandem, "train", "digits", "--gpus", "2", "--epochs", str(epochs), "--tensorboard", "--quiet", "--out", out, *words.split()], out.parent, **environment)


def one_run(tandem, folder, epochs=4):
    """A folder with one run, which has a report, a ledger and a trace."""
    folder.mkdir(parents=True)
    train(tandem, folder / "digits", "--net mlp --batch 100", epochs, TANDEM_TRACE="trace.json", TANDEM_LEDGER="log:ledger.txt")
    for name in ("trace.json", "ledger.txt"):
        (folder / name).rename(folder / "digits" / name)
    with open(folder / "digits/tensorboard/events.out.tfevents.1700000000.host.1.0", "wb") as file:
        rows = [bytes(255 * ((x // 4 + y // 4) % 2) for x in range(28)) for y in range(28)]
        for step in range(3):
            file.write(events.image("inputs/first", events.grey_png(rows), step))
            file.write(events.histogram("weights/first", [-1, -0.5, 0, 0.5, 1], [0, 2 + step, 9, 8, 1], step))
        file.write(events.note("notes", "The first layer has 64 inputs.", 0))
    return folder


def six_runs(tandem, folder, epochs=4):
    folder.mkdir(parents=True)
    for name, words in SIX.items():
        train(tandem, folder / name, words, epochs)
    return folder


def many_runs(folder, count=500):
    for i in range(count):
        events.write_run(folder / f"group{i % 7}/run{i:03}", 100, ["train/loss", "train/accuracy", "val/loss", "lr"], seed=i)
    return folder


def flames(tandem, folder):
    """The page of flame graphs of a training."""
    folder.mkdir(parents=True)
    call([tandem, "trace", "-o", folder / "trace.json", tandem, "train", "digits", "--gpus", "2", "--net", "mlp", "--epochs", "2", "--batch", "100", "--quiet", "--out", "run"], folder)
    return folder / "trace.html"


def memory(example, folder):
    """The page of a GPU's memory, of the example seeing2_waits."""
    folder.mkdir(parents=True)
    call([example, "2", "memory.html"], folder, TANDEM_VIRTUAL_GPUS="1x1GiB,link=1GB/s,latency=50us")
    return folder / "memory.html"
