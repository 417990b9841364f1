"""Runs one page of d2l as a notebook would: its cells for PyTorch in order, in one namespace, each with its outcome and what it printed.

usage: pages.py PAGE.md RESULTS    (in the folder where the page is to run; RESULTS gets a line of JSON for each cell)
"""

import ast
import contextlib
import io
import json
import linecache
import os
import random
import re
import signal
import sys
import time
import traceback
import types

SECONDS_FOR_A_CELL = 600


def cells_of(text):
    """The sources of the cells that are marked for PyTorch or for all."""
    found = []
    for cell in re.findall(r"^```\{\.python[^\n]*\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        mark = re.match(r"\s*(?:%%tab|#@tab)\s+(.*)", cell)
        if mark and {"pytorch", "all"} & {name.strip() for name in mark.group(1).split(",")}:
            found.append("\n".join("" if line.startswith(("%", "!")) else line for line in cell.splitlines()))
    return found


class Tab:
    """What the pages ask about which framework is read."""

    def selected(self, *names):
        return "pytorch" in names


class Charts:
    """The last value of each line that a cell drew: the pages draw their losses, they do not print them."""

    def __init__(self):
        self.values = {}

    def add(self, label, value):
        with contextlib.suppress(TypeError, ValueError):
            self.values[label] = float(value)

    def take(self):
        lines = "".join(f"chart {label}: {value:.6g}\n" for label, value in self.values.items())
        self.values = {}
        return lines


def prepare(d2l, charts):
    """Makes d2l's package small: one epoch, one worker, files that are here instead of the network."""
    trainer, board, animator = d2l.Trainer.__init__, d2l.ProgressBoard.draw, d2l.Animator.add
    module = d2l.DataModule.__init__

    def one_epoch(self, max_epochs, *args, **kwargs):
        trainer(self, min(max_epochs, 1), *args, **kwargs)
        self.max_epochs = min(max_epochs, 1)

    def one_worker(self, root="../data", num_workers=1):
        module(self, root, min(num_workers, 1))

    def draw(self, x, y, label, every_n=1):
        charts.add(label, y)
        board(self, x, y, label, every_n)

    def add(self, x, y):
        for i, value in enumerate(y if hasattr(y, "__len__") else [y]):
            charts.add(i, value)
        animator(self, x, y)

    def local_file(url, folder="../data", sha1_hash=None):
        name = os.path.join(folder, (url if url.startswith("http") else d2l.DATA_HUB[url][0]).split("/")[-1])
        if not os.path.exists(name):
            raise OSError(f"no network: {url}")
        return name

    d2l.Trainer.__init__, d2l.DataModule.__init__, d2l.ProgressBoard.draw, d2l.Animator.add = one_epoch, one_worker, draw, add
    d2l.download, d2l.get_dataloader_workers = local_file, lambda: 1
    d2l.display.display = d2l.display.clear_output = lambda *args, **kwargs: None  # to draw each chart anew takes most of the time


def run_cell(source, name, space):
    """Runs a cell and shows the value of its last line, as a notebook does."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), space)
        if value is not None:
            print(repr(value))


def too_long(signum, frame):
    raise TimeoutError(f"the cell runs for more than {SECONDS_FOR_A_CELL} s")


def main():
    page, results = sys.argv[1:]
    import numpy
    import torch
    from d2l import torch as d2l
    charts = Charts()
    prepare(d2l, charts)
    for seed in (random.seed, numpy.random.seed, torch.manual_seed):
        seed(0)
    torch.set_num_threads(1)
    notebook = types.ModuleType("__main__")
    notebook.__dict__.update(tab=Tab())
    sys.modules["__main__"] = notebook
    signal.signal(signal.SIGALRM, too_long)
    with open(page, encoding="utf-8") as file:
        sources = cells_of(file.read())
    with open(results, "w") as out:
        for number, source in enumerate(sources, 1):
            started, shown, error, where = time.monotonic(), io.StringIO(), None, None
            signal.alarm(SECONDS_FOR_A_CELL)
            try:
                with contextlib.redirect_stdout(shown):
                    run_cell(source, f"{os.path.basename(page)}[{number}]", notebook.__dict__)
            except BaseException as problem:  # SystemExit and the like end the cell, not the page
                error, where = f"{type(problem).__name__}: {problem}", traceback.format_exc()
            signal.alarm(0)
            outcome = {"cell": number, "error": error, "where": where, "output": shown.getvalue() + charts.take(),
                       "seconds": time.monotonic() - started}
            out.write(json.dumps(outcome) + "\n")
            out.flush()
            d2l.plt.close("all")


if __name__ == "__main__":
    main()
