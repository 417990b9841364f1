"""nextafter and frexp, against Python's own."""

import math
import unittest

import tandem

VALUES = [0.0, -0.0, 1.0, -1.0, 3.3, math.inf, -math.inf, math.nan, 5e-324, 1e-310, -(2.0**-1022), 1.7976931348623157e308]


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


class Bits(unittest.TestCase):
    def test_nextafter_of_float64(self):
        for a in VALUES:
            for b in VALUES:
                found = tandem.nextafter(tandem.tensor(a, dtype=tandem.float64), tandem.tensor(b, dtype=tandem.float64)).item()
                self.assertTrue(same(found, math.nextafter(a, b)), (a, b, found))

    def test_nextafter_of_others(self):
        for dtype, fraction, smallest in ((tandem.float32, 23, 2.0**-149), (tandem.float16, 10, 2.0**-24), (tandem.bfloat16, 7, 2.0**-133)):
            x = tandem.tensor([1.0, 1.0, 0.0, -1.0], dtype=dtype)
            found = x.nextafter(tandem.tensor([0.0, 2.0, -1.0, -2.0], dtype=dtype))
            self.assertIs(found.dtype, dtype)
            self.assertEqual(found.tolist(), [1 - 2.0 ** -(fraction + 1), 1 + 2.0**-fraction, -smallest, -1 - 2.0**-fraction])
        self.assertIs(tandem.nextafter(tandem.ones(2), tandem.ones(1, dtype=tandem.float64)).dtype, tandem.float64)
        self.assertEqual(tuple(tandem.nextafter(tandem.ones(0, 2), tandem.ones(1, 2)).shape), (0, 2))
        with self.assertRaisesRegex(NotImplementedError, "not implemented for 'Long'"):
            tandem.nextafter(tandem.tensor(1), tandem.tensor(2))

    def test_nextafter_in_place(self):
        x = tandem.ones(2)
        self.assertIs(x.nextafter_(tandem.zeros(2)), x)
        self.assertEqual(x.tolist(), [1 - 2.0**-24] * 2)

    def test_frexp(self):
        mantissa, exponent = tandem.tensor(VALUES, dtype=tandem.float64).frexp()
        for value, m, e in zip(VALUES, mantissa.tolist(), exponent.tolist()):
            self.assertTrue(same(m, math.frexp(value)[0]), value)
            self.assertEqual(e, math.frexp(value)[1])
        self.assertIs(exponent.dtype, tandem.int32)
        tandem.manual_seed(0)
        x = tandem.randn(10000) * tandem.exp(tandem.randn(10000) * 20)
        mantissa, exponent = tandem.frexp(x)
        self.assertEqual(list(zip(mantissa.tolist(), exponent.tolist())), [math.frexp(value) for value in x.tolist()])
        with self.assertRaisesRegex(RuntimeError, "only supports floating-point dtypes"):
            tandem.frexp(tandem.tensor(1))

    def test_frexp_has_a_gradient(self):
        x = tandem.tensor([3.0, 40.0], requires_grad=True)
        tandem.frexp(x).mantissa.sum().backward()
        self.assertEqual(x.grad.tolist(), [0.25, 1 / 64])

    @unittest.skipUnless(tandem.cuda.is_available(), "no GPU")
    def test_on_a_gpu(self):
        x = tandem.tensor([1.0, 3.0], device="cuda:0")
        self.assertEqual(tandem.nextafter(x, tandem.zeros(2, device="cuda:0")).cpu().tolist(), [1 - 2.0**-24, 3 - 2.0**-22])
        mantissa, exponent = tandem.frexp(x)
        self.assertEqual((str(exponent.device), mantissa.tolist(), exponent.tolist()), ("cuda:0", [0.5, 0.75], [1, 2]))


if __name__ == "__main__":
    unittest.main()
