"""utils.benchmark: how often the timer runs a statement, what a measurement says of its times, and the tables that compare them."""

import math
import pickle
import textwrap
import unittest

import tandem as td
from tandem.utils import benchmark


def task(**words):
    return benchmark.TaskSpec(**{"stmt": "x.sum()", "setup": "pass", **words})


def measured(times, runs=1, **words):
    return benchmark.Measurement(runs, [time * runs for time in times], task(**words))


def printed(measurement):
    """The text of a measurement without its first line, which has an address."""
    return repr(measurement).partition("\n")[2]


class Clock:
    """A clock by which each look takes longer than the one before."""

    def __init__(self, step, growth=1.0):
        self.now, self.step, self.growth = 0.0, step, growth

    def __call__(self):
        self.now += self.step
        self.step *= self.growth
        return self.now


class Measurements(unittest.TestCase):
    def test_figures(self):
        m = measured([3.0, 3.1, 2.9, 3.3, 5.0, 3.0], runs=10)
        self.assertAlmostEqual(m.mean, 20.3 / 6)
        self.assertAlmostEqual(m.median, 3.05)
        self.assertAlmostEqual(m.iqr, 0.25)  # from 3.0 to 3.25
        self.assertEqual([round(time, 9) for time in m.times], [3.0, 3.1, 2.9, 3.3, 5.0, 3.0])
        self.assertTrue(m.meets_confidence())
        self.assertFalse(m.meets_confidence(0.05))
        self.assertFalse(m.has_warnings)
        self.assertEqual((m.stmt, m.num_threads, m.as_row_name), ("x.sum()", 1, "x.sum()"))
        with self.assertRaisesRegex(AttributeError, "'Measurement' object has no attribute 'nosuch'"):
            m.nosuch  # noqa: B018
        self.assertAlmostEqual(pickle.loads(pickle.dumps(m)).median, 3.05)

    def test_significant_figures(self):
        self.assertEqual(measured([1.25e-3] * 5).significant_figures, 4)  # at most 4
        self.assertEqual(measured([1e-6] * 5).significant_figures, 1)  # 25 ns is the least that counts
        self.assertEqual(measured([2.6e-6] * 5).significant_figures, 2)
        self.assertEqual(benchmark.trim_sigfig(123456.0, 2), 120000.0)
        self.assertAlmostEqual(benchmark.trim_sigfig(-0.00123456, 3), -0.00123)

    def test_text(self):
        self.assertEqual(printed(measured([1e-6], runs=100)), "x.sum()\n  1.00 us\n  1 measurement, 100 runs , 1 thread")
        m = measured([1e-3, 1.001e-3, 1.002e-3, 0.999e-3], runs=7, label="L", sub_label="S", description="D", setup="a\nb", num_threads=2)
        self.assertEqual(
            printed(m),
            "L: S\nD\nsetup:\n  a\n  b\n\n  Median: 1.00 ms\n  IQR:    0.00 ms (1.00 to 1.00)\n"
            "  4 measurements, 7 runs per measurement, 2 threads",
        )
        warning = "WARNING: Interquartile range is 16.7% of the median measurement.\n           This could indicate"
        self.assertIn(warning, printed(measured([0.5, 0.6, 0.7])))
        self.assertIn("suggests significant environmental influence.", printed(measured([0.5, 0.6, 1.7])))

    def test_merge(self):
        both = benchmark.Measurement.merge([measured([1.0], runs=3), measured([2.0], runs=5), measured([9.0], label="other")])
        self.assertEqual([(m.label, m.number_per_run, m.median) for m in both], [(None, 1, 1.5), ("other", 1, 9.0)])

    def test_units(self):
        self.assertEqual([benchmark.select_unit(t)[0] for t in (2e-9, 5e-7, 1e-5, 9e-4, 0.5, 3)], ["ns", "ns", "us", "us", "ms", "s"])
        self.assertEqual(benchmark.unit_to_english("us"), "microsecond")
        self.assertEqual(benchmark.ordered_unique([3, 1, 3, 2, 1]), [3, 1, 2])


class Timers(unittest.TestCase):
    def test_timeit(self):
        calls = []
        timer = benchmark.Timer("calls.append(torch.ones(1).sum().item())", globals={"calls": calls}, timer=Clock(0.5), label="a", env="b")
        m = timer.timeit(200)
        self.assertEqual(len(calls), 202)  # 2 to warm up
        self.assertEqual((m.number_per_run, m.raw_times, m.label, m.env), (200, [0.5], "a", "b"))
        self.assertAlmostEqual(m.median, 0.0025)

    def test_code(self):
        spec = benchmark.Timer("\n    y = x + 1\n    y.sum()\n  ", "\n    x = torch.ones(2)\n").timeit(1).task_spec
        self.assertEqual((spec.stmt, spec.setup), ("y = x + 1\ny.sum()", "x = torch.ones(2)"))

    def test_threads(self):
        seen, before = [], td.get_num_threads()
        benchmark.Timer("seen.append(torch.get_num_threads())", globals={"seen": seen}, num_threads=3).timeit(1)
        self.assertEqual((set(seen), td.get_num_threads()), ({3}, before))

    def test_blocks(self):
        heard = []
        m = benchmark.Timer("1 + 1", timer=Clock(0.03)).blocked_autorange(callback=lambda *block: heard.append(block), min_run_time=0.02)
        self.assertEqual((m.number_per_run, len(m.raw_times), len(heard)), (1, 1, 1))
        self.assertEqual(heard[0][0], 1)
        self.assertAlmostEqual(heard[0][1], 0.03)

    def test_adaptive(self):
        timer = benchmark.Timer("1 + 1", timer=Clock(0.06))
        self.assertEqual(len(timer.adaptive_autorange().raw_times), 4)  # more than three that agree
        timer = benchmark.Timer("1 + 1", timer=Clock(0.06, growth=1.5))
        m = timer.adaptive_autorange(max_run_time=100.0)
        self.assertGreater(math.fsum(m.raw_times), 100.0)  # they never agree

    @unittest.skipUnless(td.cuda.is_available(), "no GPU, virtual or real")
    def test_gpu(self):
        m = benchmark.Timer("x.sum()", globals={"x": td.ones(8, device="cuda:0")}).timeit(3)
        self.assertGreater(m.median, 0)
        self.assertGreaterEqual(benchmark.timer(), 0)

    def test_errors(self):
        for wrong in (benchmark.Timer().repeat, benchmark.Timer().autorange):
            with self.assertRaisesRegex(NotImplementedError, "See `Timer.blocked_autorange.`"):
                wrong()
        with self.assertRaisesRegex(ValueError, "Currently only a `str` stmt is supported."):
            benchmark.Timer(3)
        with self.assertRaisesRegex(ValueError, "Invalid language `q`."):
            benchmark.Timer(language="q")
        with self.assertRaises(NotImplementedError):
            benchmark.Timer(language=benchmark.Language.CPP)
        with self.assertRaisesRegex(ValueError, "global_setup is C\\+\\+ only"):
            benchmark.Timer(global_setup="x")


class Tables(unittest.TestCase):
    def of(self, *rows):
        return [measured([time] * 3, label="linear", sub_label=sub, description=of, num_threads=n) for sub, of, n, time in rows]

    def same(self, table, expected):
        self.assertEqual(str(table), textwrap.dedent(expected).lstrip("\n").replace("_", " "))

    def test_table(self):
        table = benchmark.Compare(self.of(("[8]", "eager", 1, 1e-5), ("[8]", "fused", 1, 3e-6), ("[128]", "eager", 1, 1.234e-4)))
        table.extend_results(self.of(("[8]", "eager", 2, 5e-6)))
        self.same(
            table,
            """
            [----------- linear ----------]
                         |  eager  |  fused
            1 threads: --------------------
                  [8]    |   10.0  |   3.0_
                  [128]  |  123.4  |      _
            2 threads: --------------------
                  [8]    |    5.0  |      _

            Times are in microseconds (us).
            """,
        )
        with self.assertRaisesRegex(ValueError, "Expected an instance of `Measurement`, got <class 'int'> instead."):
            table.extend_results([3])
        self.assertEqual(str(benchmark.Compare([])), "")

    def test_digits(self):
        table = benchmark.Compare(self.of(("a", "x", 1, 1.3e-6), ("b", "x", 1, 4.2e-6)))
        self.assertIn("|  1.3\n", str(table))
        table.trim_significant_figures()
        self.assertIn("|  1\n", str(table))
        self.assertIn("|  4\n", str(table))

    def test_colours(self):
        results = self.of(("a", "x", 1, 1e-3), ("a", "y", 1, 1.05e-3), ("b", "x", 1, 2.5e-3), ("b", "y", 1, 9e-3))
        table = benchmark.Compare(results)
        table.colorize()
        best, good, bad, worst = "\033[92m\033[1m", "\033[34m\033[1m", "\033[2m\033[91m", "\033[31m\033[1m"
        first, second = str(table).splitlines()[3:5]
        self.assertEqual((first.count(best), second.count(bad), second.count(worst)), (2, 1, 1))
        table.colorize(rowwise=True)
        first, second = str(table).splitlines()[3:5]
        self.assertEqual((first.count(best), first.count(good), second.count(best), second.count(bad)), (1, 1, 1, 1))

    def test_environments_and_warnings(self):
        results = [measured([1e-5, 2e-5, 3e-5], sub_label="s", description="d", env=env) for env in ("main", "my branch")]
        table = benchmark.Compare(results)
        table.highlight_warnings()
        lines = str(table).splitlines()
        self.assertEqual(lines[3], "  (main)       s  |  20.0 (! 50%)")
        self.assertEqual(lines[4], "  (my branch)  s  |  20.0 (! 50%)")
        self.assertIn("(! XX%) Measurement has high variance, where XX is the IQR / median * 100.", lines)


class Inputs(unittest.TestCase):
    def fuzzer(self, **words):
        sizes = [benchmark.FuzzedParameter(name, minval=1, maxval=64, distribution="loguniform") for name in ("k0", "k1")]
        x = benchmark.FuzzedTensor("x", size=("k0", "k1"), min_elements=16, max_elements=1024, probability_contiguous=0.5)
        return benchmark.Fuzzer(sizes, [x], seed=0, **words)

    def test_sizes(self):
        fuzzer = self.fuzzer()
        found = list(fuzzer.take(50))
        for tensors, facts, params in found:
            x = tensors["x"]
            self.assertEqual(tuple(x.shape), (params["k0"], params["k1"]))
            self.assertTrue(16 <= x.numel() <= 1024 and 1 <= params["k0"] <= 64)
            self.assertEqual((facts["x"]["numel"], facts["x"]["is_contiguous"]), (x.numel(), x.is_contiguous()))
        self.assertEqual({facts["x"]["is_contiguous"] for _, facts, _ in found}, {True, False})
        self.assertEqual([params for _, _, params in self.fuzzer().take(50)], [params for _, _, params in found])
        self.assertTrue(0 < fuzzer.rejection_rate < 1)

    def test_values_steps_and_constraints(self):
        half = {0.0: 0.5, 1.0: 0.5}
        parameters = [
            benchmark.FuzzedParameter("n", distribution={4: 0.5, 8: 0.5}),
            benchmark.FuzzedParameter("m", distribution={benchmark.ParameterAlias("n"): 1.0}),
            benchmark.FuzzedParameter("step", minval=2, maxval=3, distribution="uniform"),
            benchmark.FuzzedParameter("p", distribution=half),
        ]
        x = benchmark.FuzzedTensor("x", size=("n", "m"), steps=(1, "step"), probability_contiguous=1.0, dtype=td.int64)
        fuzzer = benchmark.Fuzzer(parameters, [[x]], constraints=[lambda params: params["n"] == 8], seed=1)
        for tensors, facts, params in fuzzer.take(10):
            self.assertEqual((params["m"], tuple(tensors["x"].shape)), (8, (8, 8)))
            self.assertEqual(tensors["x"].stride(), (8 * params["step"], params["step"]))
            self.assertEqual((tensors["x"].dtype, facts["x"]["steps"]), (td.int64, (1, params["step"])))

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "did not fit"):
            next(self.fuzzer(constraints=[lambda params: False]).take(1))
        one = benchmark.FuzzedParameter("a", minval=0.0, maxval=1.0, distribution="uniform")
        with self.assertRaisesRegex(ValueError, "overlap: a"):
            benchmark.Fuzzer([one, one], [])
        with self.assertRaisesRegex(ValueError, "above 0 for 'loguniform'"):
            benchmark.FuzzedParameter("a", minval=0, maxval=1, distribution="loguniform")


if __name__ == "__main__":
    unittest.main()
