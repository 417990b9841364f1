"""tandem.fft's frequencies and shifts, by hand, on the CPU and on a GPU."""

import math
import unittest

import tandem
from tandem import fft

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])


class Frequencies(unittest.TestCase):
    def test_values(self):
        for device in DEVICES:
            with self.subTest(device):
                self.assertEqual(fft.fftfreq(4, device=device).tolist(), [0, 0.25, -0.5, -0.25])
                self.assertEqual(fft.fftfreq(5, 0.5, dtype=tandem.float64, device=device).tolist(), [0, 0.4, 0.8, -0.8, -0.4])
                self.assertEqual(fft.rfftfreq(4, 2, device=device).tolist(), [0, 0.125, 0.25])
                self.assertEqual(fft.rfftfreq(5, 0.2, dtype=tandem.float64, device=device).tolist(), [0, 1, 2])
        self.assertEqual(fft.fftfreq(0).tolist(), [])
        self.assertEqual(fft.fftfreq(1).tolist(), [0])
        self.assertTrue(math.isnan(fft.rfftfreq(0).item()))
        self.assertTrue(fft.fftfreq(3, requires_grad=True).requires_grad)
        with self.assertRaisesRegex(RuntimeError, "requires a floating point"):
            fft.fftfreq(3, dtype=tandem.int32)

    def test_shifts(self):
        for device in DEVICES:
            with self.subTest(device):
                x = tandem.arange(10, device=device).reshape(2, 5)
                self.assertEqual(fft.fftshift(x[0]).tolist(), [3, 4, 0, 1, 2])
                self.assertEqual(fft.ifftshift(x, dim=1).tolist(), [[2, 3, 4, 0, 1], [7, 8, 9, 5, 6]])
                self.assertEqual(fft.fftshift(x).tolist(), [[8, 9, 5, 6, 7], [3, 4, 0, 1, 2]])
                self.assertEqual(fft.ifftshift(fft.fftshift(x)).tolist(), x.tolist())

    def test_transforms_say_why_they_are_missing(self):
        for transform in (fft.fft, fft.rfft2, fft.ihfftn):
            with self.assertRaisesRegex(NotImplementedError, transform.__name__ + ": transforms have complex results, and tandem has no complex dtypes"):
                transform(tandem.ones(4))
        self.assertIs(tandem.fft, fft)


if __name__ == "__main__":
    unittest.main()
