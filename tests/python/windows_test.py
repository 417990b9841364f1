"""signal.windows: values by formula, symmetric and periodic, ends, dtypes, devices and errors."""

import math
import unittest

import tandem as td
from tandem.signal import windows


class Windows(unittest.TestCase):
    def near(self, actual, expected):
        self.assertEqual(actual.dtype, td.float64)
        self.assertEqual(len(actual), len(expected))
        for a, b in zip(actual.tolist(), expected):
            self.assertAlmostEqual(a, b, places=12)

    def check(self, name, value, **options):
        """The window against value(n, last), for each kind of end."""
        window = getattr(windows, name)
        for M in (2, 5, 8):
            for sym in (True, False):
                last = M - 1 if sym else M
                self.near(window(M, sym=sym, dtype=td.float64, **options), [value(n, last) for n in range(M)])
        self.assertEqual(window(0, **options).shape, (0,))
        self.assertEqual(window(1, requires_grad=True, **options).tolist(), [1.0])
        self.assertTrue(window(4, requires_grad=True, **options).requires_grad)
        self.assertEqual(window(4, **options).dtype, td.float32)
        with self.assertRaisesRegex(ValueError, "requires non-negative window length, got M=-1"):
            window(-1, **options)
        with self.assertRaisesRegex(ValueError, "expects float32 or float64 dtypes, got: .*float16"):
            window(3, dtype=td.float16, **options)
        with self.assertRaises(TypeError):
            window(3.0, **options)
        with self.assertRaises(TypeError):
            window(3, True, **options)

    def cosines(self, *a):
        return lambda n, last: math.fsum((-1) ** i * w * math.cos(2 * math.pi * i * n / last) for i, w in enumerate(a))

    def test_all(self):
        self.assertEqual(len(windows.__all__), 11)
        self.check("bartlett", lambda n, last: 1 - abs(2 * n / last - 1))
        self.check("blackman", self.cosines(0.42, 0.5, 0.08))
        self.check("cosine", lambda n, last: math.sin(math.pi * (n + 0.5) / (last + 1)))
        self.check("exponential", lambda n, last: math.exp(-abs(n - last / 2) / 2), tau=2.0)
        self.check("gaussian", lambda n, last: math.exp(-((n - last / 2) ** 2) / (2 * 1.5**2)), std=1.5)
        self.check("general_cosine", self.cosines(0.5, 0.3, 0.2), a=[0.5, 0.3, 0.2])
        self.check("general_cosine", self.cosines(1.0), a=(1.0,))
        self.check("general_hamming", self.cosines(0.7, 0.3), alpha=0.7)
        self.check("hamming", self.cosines(0.54, 0.46))
        self.check("hann", lambda n, last: math.sin(math.pi * n / last) ** 2)
        self.check("nuttall", self.cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411))

    def test_kaiser(self):
        def bessel(x):
            return math.fsum((x / 2) ** (2 * k) / math.factorial(k) ** 2 for k in range(60))

        self.check("kaiser", lambda n, last: bessel(4 * math.sqrt(max(0, 1 - (2 * n / last - 1) ** 2))) / bessel(4), beta=4.0)
        self.near(windows.kaiser(3, beta=0, dtype=td.float64), [1, 1, 1])

    def test_centre(self):
        self.near(windows.exponential(4, center=1, sym=False, dtype=td.float64), [math.exp(-1), 1, math.exp(-1), math.exp(-2)])
        with self.assertRaisesRegex(ValueError, "Center must be None for symmetric windows"):
            windows.exponential(4, center=1)

    def test_wrong_shapes(self):
        for call, text in [
            (lambda: windows.exponential(3, tau=0), "Tau must be positive, got: 0 instead."),
            (lambda: windows.gaussian(3, std=-1), "Standard deviation must be positive, got: -1 instead."),
            (lambda: windows.kaiser(3, beta=-1), "beta must be non-negative, got: -1 instead."),
            (lambda: windows.general_cosine(3, a=[]), "Coefficients cannot be empty"),
            (lambda: windows.hann(3, layout=None), "is implemented for strided tensors only, got: None"),
        ]:
            with self.assertRaisesRegex(ValueError, text):
                call()
        with self.assertRaisesRegex(TypeError, "Coefficients must be a list/tuple"):
            windows.general_cosine(3, a=3)

    @unittest.skipUnless(td.cuda.is_available(), "no GPU, virtual or real")
    def test_gpu(self):
        window = windows.hann(5, device="cuda:0")
        self.assertEqual(str(window.device), "cuda:0")
        self.assertEqual([round(v, 6) for v in window.tolist()], [0, 0.5, 1, 0.5, 0])


if __name__ == "__main__":
    unittest.main()
