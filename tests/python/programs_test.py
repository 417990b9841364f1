"""The machine of .ci/programs without PyTorch: how two outputs are compared, and how a page becomes cells and charts become numbers."""

import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / ".ci" / "others"))

import compare  # noqa: E402
import pages  # noqa: E402


class Comparing(unittest.TestCase):
    def kind(self, ours, theirs):
        return compare.compare(ours, theirs)[0]

    def test_kinds(self):
        self.assertEqual(self.kind("loss: 0.5", "loss: 0.5"), "same")
        self.assertEqual(self.kind("loss: 0.500", "loss: 0.501"), "near")  # one in the last place
        self.assertEqual(self.kind("loss: 1.2345678", "loss: 1.2345699"), "near")
        self.assertEqual(self.kind("loss: 0.5000", "loss: 0.5020"), "close")
        self.assertEqual(self.kind("loss: 0.50", "loss: 0.60"), "differs")
        self.assertEqual(self.kind("loss: 0.5", "loss: nan"), "differs")
        self.assertEqual(self.kind("loss: nan", "loss: nan"), "same")
        self.assertEqual(self.kind("loss: 0.5", "accuracy: 0.5"), "differs")
        self.assertEqual(self.kind("step 3", "step 4"), "differs")  # whole numbers are counts

    def test_what_changes_is_not_compared(self):
        self.assertEqual(self.kind("loss: 0.5, 0.15 sec/epoch", "loss: 0.5, 0.02 sec/epoch"), "same")
        self.assertEqual(self.kind("1200.5 examples/sec on cpu", "3.1 examples/sec on cpu"), "silent")
        self.assertEqual(self.kind("<object at 0x7f00>", "<object at 0x12ab>"), "same")
        self.assertEqual(self.kind("", ""), "silent")

    def test_what_is_told(self):
        kind, largest, first = compare.compare("1.00 and 2.00", "1.00 and 4.00")
        self.assertEqual((kind, largest, first), ("differs", 0.5, "prints 2.00, PyTorch 4.00"))
        self.assertIn("prints 'lost', PyTorch 'found'", compare.compare("lost", "found")[2])


class Line:
    def get_ydata(self):
        return [1.0, -2.0, 3.0]


class Pages(unittest.TestCase):
    def test_cells(self):
        page = "\n".join([
            "```{.python .input}", "%%tab pytorch", "x = 1", "```",
            "words",
            "```{.python .input}", "%%tab tensorflow", "x = 2", "```",
            "```{.python .input}", "%%tab all", "!ls", "x", "```", "",
        ])
        self.assertEqual(pages.cells_of(page), ["\nx = 1", "\n\nx"])

    def test_charts(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("NumPy is not installed")
        board, other = object(), types.SimpleNamespace(axes=[types.SimpleNamespace(lines=[Line()], images=[], patches=[])])
        pyplot = types.SimpleNamespace(get_fignums=lambda: [1, 2], figure=lambda number: (board, other)[number - 1], close=lambda name: None)
        charts = pages.Charts()
        charts.add("loss", 2.0, board)
        charts.add("loss", 1.0, board)
        self.assertEqual(charts.take(pyplot), "chart loss: 2 points, 2 to 1, 1.5\nchart 0 line: 3 points, 1 to 3, 2\n")
        self.assertEqual(charts.take(types.SimpleNamespace(get_fignums=list, close=lambda name: None)), "")


if __name__ == "__main__":
    unittest.main()
