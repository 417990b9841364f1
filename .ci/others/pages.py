"""Runs one page of d2l as a notebook would: its cells for PyTorch in order, in one namespace, each with its outcome and what it printed.

usage: pages.py PAGE.md RESULTS EPOCHS    (in the folder where the page is to run; RESULTS gets a line of JSON for each cell)
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
    """What a cell drew, in numbers: the pages draw their losses and results, they do not print them."""

    def __init__(self):
        self.training = {}  # the lines that d2l's trainer draws, point by point
        self.drawn_by_training = []

    def add(self, label, value, figure):
        self.training.setdefault(label, []).append(float(value))
        self.drawn_by_training.append(figure)

    def take(self, pyplot):
        """A line of text for each line, picture and set of bars, and forgets them."""
        told = [_summary(label, values) for label, values in self.training.items()]
        figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
        for i, axes in enumerate(axes for figure in figures if figure not in self.drawn_by_training for axes in figure.axes):
            told += [_summary(f"{i} line", line.get_ydata()) for line in axes.lines]
            told += [_summary(f"{i} picture", picture.get_array()) for picture in axes.images]
            if axes.patches:
                told.append(_summary(f"{i} bars", [bar.get_height() for bar in axes.patches if hasattr(bar, "get_height")]))
        self.training, self.drawn_by_training = {}, []
        pyplot.close("all")
        return "".join(told)


def _summary(label, values):
    """How many values, the first, the last and the mean of their sizes."""
    import numpy
    values = numpy.asarray(values, dtype=float).reshape(-1)
    if not len(values):
        return ""
    return f"chart {label}: {len(values)} points, {values[0]:.6g} to {values[-1]:.6g}, {numpy.abs(values).mean():.6g}\n"


class Seconds(float):
    """Seconds that a page measured: they are used and drawn as they are, and not told as a number."""

    def __repr__(self):
        return "[seconds]"


def prepare(d2l, charts, epochs):
    """Makes d2l's package small: few epochs, one worker, files that are here instead of the network."""
    trainer, board, module = d2l.Trainer.__init__, d2l.ProgressBoard.draw, d2l.DataModule.__init__
    stop, seconds = d2l.Timer.stop, d2l.Timer.cumsum

    def few_epochs(self, max_epochs, *args, **kwargs):
        trainer(self, min(max_epochs, epochs), *args, **kwargs)
        self.max_epochs = min(max_epochs, epochs)

    def one_worker(self, root="../data", num_workers=1):
        module(self, root, min(num_workers, 1))

    def draw(self, x, y, label, every_n=1):
        board(self, x, y, label, every_n)
        charts.add(label, y, self.fig)

    def local_file(url, folder="../data", sha1_hash=None):
        name = os.path.join(folder, (url if url.startswith("http") else d2l.DATA_HUB[url][0]).split("/")[-1])
        if not os.path.exists(name):
            raise OSError(f"no network: {url}")
        return name

    d2l.Trainer.__init__, d2l.DataModule.__init__, d2l.ProgressBoard.draw = few_epochs, one_worker, draw
    d2l.Timer.stop = lambda self: Seconds(stop(self))
    d2l.Timer.cumsum = lambda self: [Seconds(value) for value in seconds(self)]
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
    page, results, epochs = sys.argv[1:]
    import numpy
    import torch
    from d2l import torch as d2l
    charts = Charts()
    prepare(d2l, charts, int(epochs))
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
            outcome = {"cell": number, "error": error, "where": where, "output": shown.getvalue() + charts.take(d2l.plt),
                       "seconds": time.monotonic() - started}
            out.write(json.dumps(outcome) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
