"""Arguments of functions that are written in Python: errors in PyTorch's words, out=, and the functions by their other names."""

import math
import unittest

import tandem as torch


class Errors(unittest.TestCase):
    def refused(self, text, function, *args, **kwargs):
        with self.assertRaises(TypeError) as caught:
            function(*args, **kwargs)
        self.assertTrue(str(caught.exception).startswith(text), str(caught.exception))

    def test_types(self):
        x = torch.ones(2, 2)
        self.refused("mvlgamma(): argument 'input' (position 1) must be Tensor, not int", torch.mvlgamma, 1, 2)
        self.refused("mvlgamma(): argument 'p' (position 2) must be int, not str", torch.mvlgamma, x, "a")
        self.refused("mvlgamma(): argument 'p' (position 1) must be int, not bool", x.mvlgamma, True)
        self.refused("mvlgamma(): argument 'p' must be int, not NoneType", torch.mvlgamma, x, p=None)
        self.refused("cholesky_inverse(): argument 'upper' (position 2) must be bool, not int", torch.cholesky_inverse, x, 1)
        self.refused("nextafter(): argument 'other' (position 1) must be Tensor, not int", x.nextafter, 2)

    def test_what_is_missing_or_too_much(self):
        x = torch.ones(2, 2)
        self.refused('renorm() missing 1 required positional arguments: "maxnorm"', torch.renorm, x, 2, 0)
        self.refused('renorm() missing 2 required positional argument: "dim", "maxnorm"', x.renorm, 2)
        self.refused("gcd() takes 2 positional arguments but 3 were given", torch.gcd, x, x, x)
        self.refused("pdist() takes from 1 to 2 positional arguments but 3 were given", torch.pdist, x, 2, 3)
        self.refused("is_signed() got an unexpected keyword argument 'foo'", torch.is_signed, x, foo=1)
        self.refused("is_signed() got multiple values for argument 'input'", torch.is_signed, x, input=x)

    def test_several_forms(self):
        self.refused(
            "histogram() received an invalid combination of arguments - got (int, str), but expected one of:", torch.histogram, 3, "a"
        )
        self.refused("hann_window(): argument 'window_length' (position 1) must be int, not float", torch.hann_window, 2.5)

    def test_numbers_where_tensors_belong(self):
        x = torch.ones(2)
        for function in (torch.maximum, torch.minimum, torch.logical_and, torch.atan2, torch.hypot):
            self.refused(f"{function.__name__}(): argument 'other' (position 2) must be Tensor, not int", function, x, 1)
        self.refused("absolute(): argument 'input' (position 1) must be Tensor, not int", torch.absolute, 3)


class Out(unittest.TestCase):
    def test_sizes_and_dtype(self):
        out = torch.empty(0, dtype=torch.int64)
        result = torch.gcd(torch.tensor([12, 18]), torch.tensor(8), out=out)
        self.assertIs(result, out)
        self.assertEqual(out.tolist(), [4, 2])
        with self.assertRaisesRegex(RuntimeError, "^Expected out tensor to have dtype long int, but got float instead"):
            torch.gcd(torch.tensor([12]), torch.tensor(8), out=torch.empty(1))

    def test_several(self):
        hist, edges = torch.empty(0), torch.empty(0)
        result = torch.histogram(torch.tensor([0.0, 1.0, 3.0, 4.0]), 2, out=(hist, edges))
        self.assertIs(result.hist, hist)
        self.assertEqual((hist.tolist(), edges.tolist()), ([2, 2], [0, 2, 4]))
        self.assertTrue(repr(result).startswith("tandem.return_types.histogram(\nhist=tensor([2., 2.]),\n"))


class Values(unittest.TestCase):
    def test_kaiser_window(self):
        self.assertEqual(torch.kaiser_window(3, False, 0.0).tolist(), [1, 1, 1])
        first = torch.kaiser_window(5, False, 2.0)
        self.assertAlmostEqual(first[2].item(), 1.0, places=6)
        self.assertAlmostEqual(first[0].item(), 1 / float(torch.i0(torch.tensor(2.0, dtype=torch.float64))), places=6)

    def test_igamma(self):
        x = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
        lower, upper = torch.igamma(torch.ones_like(x), x), torch.ones_like(x).igammac(x)
        for value, low, high in zip(x.tolist(), lower.tolist(), upper.tolist()):
            self.assertAlmostEqual(low, 1 - math.exp(-value), places=10)
            self.assertAlmostEqual(high, math.exp(-value), places=10)

    def test_other_strides_and_memory(self):
        x = torch.arange(6.0)
        self.assertEqual(x.as_strided_((2, 2), (1, 2)).tolist(), [[0, 2], [1, 3]])
        y = torch.ones(2)
        self.assertEqual(y.set_(x).data_ptr(), x.data_ptr())
        self.assertIs(type(x.as_subclass(torch.nn.Parameter)), torch.nn.Parameter)
        self.assertEqual(torch.ones(2, 3).t().dim_order(), (1, 0))

    def test_common_dtypes(self):
        self.assertEqual(torch.gcd(torch.tensor([4], dtype=torch.uint8), torch.tensor(6)).dtype, torch.uint8)
        self.assertEqual(torch.nextafter(torch.tensor([1.0]), torch.tensor(2.0, dtype=torch.float64)).dtype, torch.float32)
        self.assertEqual(torch.nonzero(torch.tensor(3), as_tuple=True)[0].tolist(), [0])


if __name__ == "__main__":
    unittest.main()
