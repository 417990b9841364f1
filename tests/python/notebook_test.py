"""docs/guide/first_hour.ipynb: every cell runs, in order, and prints what is stored; also in Jupyter, and the first of the texts there."""

import ast
import contextlib
import importlib
import importlib.util
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import seeds_test

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "seeds"))

import cells  # noqa: E402
import play  # noqa: E402

GUIDE = HERE.parents[1] / "docs" / "guide" / "first_hour.ipynb"
VARIES = "varies"  # the tag of a cell whose output is another one each time
JUPYTER = all(importlib.util.find_spec(name) for name in ("nbconvert", "nbclient", "ipykernel"))


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shown(cell):
    """The text that a cell of a notebook's file shows."""
    texts = [output.get("text") or output.get("data", {}).get("text/plain") or output.get("evalue", "") for output in cell["outputs"]]
    return "\n".join("".join(text).rstrip("\n") for text in texts)


def steady(text):
    """A text without what differs from run to run: addresses and durations. Columns are as wide as their durations."""
    return " ".join(re.sub(r"\b\d+\.\d+ [mu]?s\b", "TIME", re.sub(r"0x[0-9a-f]+", "0x", text)).split())


def without_magics(code):
    """The cell's Python. %load_ext is done; %%time and the like are left out, as they change nothing that a cell gives."""
    lines = []
    for line in code.splitlines():
        if line.startswith("%load_ext "):
            importlib.import_module(line.split()[1]).load_ipython_extension(None)
        elif not line.startswith("%"):
            lines.append(line)
    return "\n".join(lines)


def run_plainly(codes):
    """What each cell shows, by a runner that needs Python only."""
    names = {"__name__": "__main__"}
    return [play.run_cell(without_magics(code), f"In[{number}]", names) for number, code in enumerate(codes, 1)]


def run_in_ipython(codes):
    """The same by IPython's own shell."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell, results = InteractiveShell.instance(), []
    for code in codes:
        with capture_output() as captured:
            done = shell.run_cell(code, store_history=True)
        error = done.error_before_exec or done.error_in_exec
        results.append(f"{type(error).__name__}: {error}" if error else re.sub(r"^Out\[\d+\]: ?", "", captured.stdout, flags=re.M))
    return results


class Guide(unittest.TestCase):
    """The notebook that newcomers begin with."""

    @classmethod
    def setUpClass(cls):
        cls.cells = code_cells(json.loads(GUIDE.read_text()))
        cls.codes = ["".join(cell["source"]) for cell in cls.cells]

    def compare(self, outputs):
        self.assertEqual(len(outputs), len(self.cells))
        for number, (cell, output) in enumerate(zip(self.cells, outputs), 1):
            with self.subTest(cell=number, code="".join(cell["source"])):
                if VARIES in cell["metadata"].get("tags", ()):
                    self.assertNotRegex(output, r"^\w+Error: ")
                    self.assertTrue(output.strip())
                else:
                    self.assertEqual(steady(output), steady(shown(cell)))

    def run_by(self, runner):
        """What the cells show in a process of their own: the notebook asks for its virtual GPUs itself."""
        environment = {name: value for name, value in os.environ.items() if name != "TANDEM_VIRTUAL_GPUS"}
        command = [sys.executable, __file__, runner]
        done = subprocess.run(command, input=json.dumps(self.codes), capture_output=True, text=True, env=environment, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_every_cell(self):
        self.compare(self.run_by("run_plainly"))

    @unittest.skipUnless(importlib.util.find_spec("IPython"), "IPython is not installed")
    def test_every_cell_in_ipython(self):
        self.compare(self.run_by("run_in_ipython"))

    def test_it_is_kept_as_it_ran(self):
        self.assertGreater(len(self.cells), 20)
        self.assertEqual([cell["execution_count"] for cell in self.cells], list(range(1, len(self.cells) + 1)))
        for cell in self.cells:
            self.assertFalse([output for output in cell["outputs"] if output["output_type"] == "error"])
            ast.parse(without_magics("".join(cell["source"])))
        self.assertLess(GUIDE.stat().st_size, 100_000)

    def test_reports_are_shown_as_pages(self):
        pages = [
            "".join(output["data"]["text/html"])
            for cell in self.cells
            for output in cell["outputs"]
            if "text/html" in output.get("data", {})
        ]
        for start, word in [
            ("<pre", "time lost"),
            ("<p><b>Race", "wait_stream"),
            ("<iframe", "Over time"),
            ("<pre", "# of Calls"),
            ("<pre", "Memory-Usage"),
        ]:
            self.assertTrue([page for page in pages if page.startswith(start) and word in page], word)

    def test_lines_that_the_text_names(self):
        markdown = "".join("".join(cell["source"]) for cell in json.loads(GUIDE.read_text())["cells"] if cell["cell_type"] == "markdown")
        named = re.findall(r"`In\[(\d+)\]:(\d+)`", markdown)
        self.assertTrue(named)
        for cell, line in named:
            self.assertIn(f"In[{cell}]:{line}", shown(self.cells[int(cell) - 1]))


@unittest.skipUnless(JUPYTER, "nbconvert, nbclient and ipykernel are not installed")
class Jupyter(unittest.TestCase):
    """The same by `jupyter nbconvert --execute`."""

    def execute(self, notebook, **settings):
        environment = {name: value for name, value in os.environ.items() if name != "TANDEM_VIRTUAL_GPUS"} | settings
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "notebook.ipynb"
            path.write_text(json.dumps(notebook))
            command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "executed.ipynb", str(path)]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads((path.parent / "executed.ipynb").read_text())

    def test_the_guide(self):
        guide = json.loads(GUIDE.read_text())
        for cell, executed in zip(code_cells(guide), code_cells(self.execute(guide))):
            with self.subTest(code="".join(cell["source"])):
                if VARIES not in cell["metadata"].get("tags", ()):
                    self.assertEqual(steady(shown(executed)), steady(shown(cell)))

    @unittest.skipUnless(os.path.isdir(seeds_test.TEXTS), "the texts are not beside this repository")
    def test_the_first_text(self):
        read = [cell for cell in cells.notebook(seeds_test.text("000_550e329a550cc5fd.txt")) if not cell.code.startswith("!pip")]
        empty = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
        codes = ["%load_ext tandem.torch_compat", *(cell.code for cell in read)]
        notebook = {
            "cells": [empty | {"id": f"cell-{number}", "source": code} for number, code in enumerate(codes)],
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        executed = code_cells(self.execute(notebook, TANDEM_VIRTUAL_GPUS="2x256MiB"))
        for cell, ran in zip(read, executed[1:]):
            with self.subTest(code=cell.code):
                if cell.code.startswith("!nvidia-smi"):
                    self.assertIn("Memory-Usage", shown(ran))
                else:
                    self.assertEqual(seeds_test.alike(shown(ran), False), seeds_test.alike(cell.output or "", False))
        self.assertEqual(len(executed), 14)


if __name__ == "__main__":
    if sys.argv[1:] in (["run_plainly"], ["run_in_ipython"]):
        asked = json.load(sys.stdin)
        with contextlib.redirect_stdout(io.StringIO()):  # the cells' outputs are in the answer
            answer = globals()[sys.argv[1]](asked)
        json.dump(answer, sys.stdout)
    else:
        unittest.main()
