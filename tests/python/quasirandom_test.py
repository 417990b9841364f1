"""quasirandom.SobolEngine: the published sequence, its evenness, leaving points out, scrambling."""

import unittest

import tandem as td
from tandem.quasirandom import SobolEngine


class Sobol(unittest.TestCase):
    def test_first_points(self):
        # The points 0 to 9 of the three first dimensions, as published with the direction numbers.
        eighths = [[0, 0, 0], [4, 4, 4], [6, 2, 2], [2, 6, 6], [3, 3, 5], [7, 7, 1], [5, 1, 7], [1, 5, 3]]
        engine = SobolEngine(3)
        self.assertEqual((engine.draw(8) * 8).tolist(), eighths)
        self.assertEqual((engine.draw(2) * 16).tolist(), [[3, 5, 15], [11, 13, 7]])

    def test_pieces(self):
        whole = SobolEngine(40).draw(70)
        engine = SobolEngine(40)
        parts = [engine.draw(), engine.draw(2), engine.draw(0), engine.draw_base2(0), engine.draw(66)]
        self.assertTrue(td.equal(td.cat(parts), whole))
        self.assertEqual(engine.num_generated, 70)
        self.assertTrue(td.equal(engine.reset().draw(5), whole[:5]))
        for left_out in (0, 1, 7, 64):
            self.assertTrue(td.equal(SobolEngine(40).fast_forward(left_out).draw(6), whole[left_out : left_out + 6]))
        self.assertTrue(td.equal(SobolEngine(40).fast_forward(3).fast_forward(4).draw(3), whole[7:10]))

    def test_even_in_each_dimension(self):
        points = SobolEngine(SobolEngine.MAXDIM).draw(64)
        each = td.arange(64.0) / 64  # of 64 points, one is in each 64th
        self.assertTrue(td.equal(points.sort(0).values, each.unsqueeze(1).expand(64, SobolEngine.MAXDIM)))

    def test_dimensions_differ(self):
        points = SobolEngine(SobolEngine.MAXDIM).fast_forward(1 << 14).draw(64)
        self.assertEqual(len({tuple(column) for column in points.t().tolist()}), SobolEngine.MAXDIM)

    def test_scrambled(self):
        engine = SobolEngine(5, scramble=True, seed=11)
        points = engine.draw_base2(6)
        self.assertTrue(td.equal(SobolEngine(5, scramble=True, seed=11).draw(64), points))
        self.assertFalse(td.equal(SobolEngine(5, scramble=True, seed=12).draw(64), points))
        self.assertFalse(td.equal(SobolEngine(5).draw(64), points))
        places = (points * 64).floor().sort(0).values  # still one in each 64th
        self.assertTrue(td.equal(places, td.arange(64.0).unsqueeze(1).expand(64, 5)))
        self.assertTrue(td.equal(engine.reset().draw(64), points))

    def test_dtype_and_out(self):
        self.assertEqual(SobolEngine(2).draw(3, dtype=td.float64).dtype, td.float64)
        out = td.empty(0)
        engine = SobolEngine(2)
        self.assertIs(engine.draw(2, out=out), out)
        self.assertEqual(out.tolist(), [[0, 0], [0.5, 0.5]])

    def test_text(self):
        self.assertEqual(repr(SobolEngine(2)), "SobolEngine(dimension=2)")
        self.assertEqual(repr(SobolEngine(2, True, 7)), "SobolEngine(dimension=2, scramble=True, seed=7)")

    def test_errors(self):
        for dimension in (0, 1112):
            with self.assertRaisesRegex(ValueError, r"Supported range of dimensionality for SobolEngine is \[1, 1111\]"):
                SobolEngine(dimension)
        engine = SobolEngine(2)
        engine.draw(6)
        with self.assertRaisesRegex(ValueError, r"6 points have been previously generated, then: n=6\+2\*\*3=14."):
            engine.draw_base2(3)
        with self.assertRaisesRegex(ValueError, "n must be non-negative, but got -1"):
            engine.draw(-1)
        with self.assertRaisesRegex(NotImplementedError, "ask for float32 or float64"):
            engine.draw(2, dtype=td.int64)
        with self.assertRaisesRegex(ValueError, "too many"):
            SobolEngine(1).fast_forward(1 << 30).draw()


if __name__ == "__main__":
    unittest.main()
