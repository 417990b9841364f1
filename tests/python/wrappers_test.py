"""The table of wrappers and options: every cell once, and some of several options. `walk_wrappers.py` walks more."""

import unittest

from walk_wrappers import runnable, walk
from wrappers.cell import cell_of, random_cell, table_cells


class Wrappers(unittest.TestCase):
    def check(self, cells):
        self.assertEqual(walk(runnable(cells), 4), [])

    def test_every_wrapper_with_every_option(self):
        self.check(list(table_cells(1)))

    def test_several_options(self):
        self.check([random_cell(number) for number in range(60)])

    def test_ranks_without_another_batch_step_their_part(self):
        # By the gradients as clipping and a scaler left them, also where averages are over the ranks that have samples.
        self.check([cell_of(text) for text in (
            "ZeRO clipping join ranks=3 read_by=3 seed=1000066",
            "ZeRO scaler frozen twice join ranks=4 read_by=4 seed=1000183",
            "ZeRO partly_used twice join schedule average ranks=2 read_by=2 seed=1001066",
        )])  # fmt: skip

    def test_a_cell_is_read_as_it_is_written(self):
        for number in range(50):
            cell = random_cell(number)
            self.assertEqual(cell_of(str(cell)), cell)


if __name__ == "__main__":
    unittest.main()
