"""Functions that are made of others, special functions, and assert_close: their values by hand or by formula, on the CPU and on a GPU."""

import math
import unittest

import tandem
from tandem.testing import assert_close, make_tensor

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])
MATRIX = [[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]]


def on_each_device(test):
    def run(self):
        for device in DEVICES:
            with self.subTest(device):
                tandem.set_default_device(device)
                try:
                    test(self, device)
                finally:
                    tandem.set_default_device(None)

    return run


class Parts(unittest.TestCase):
    @on_each_device
    def test_scatters(self, device):
        x = tandem.zeros(2, 3)
        self.assertEqual(tandem.select_scatter(x, tandem.ones(3), 0, 1).tolist(), [[0, 0, 0], [1, 1, 1]])
        self.assertEqual(x.slice_scatter(tandem.ones(2, 2), 1, 0, 3, 2).tolist(), [[1, 0, 1], [1, 0, 1]])
        self.assertEqual(x.diagonal_scatter(tandem.ones(2), 1).tolist(), [[0, 1, 0], [0, 0, 1]])
        self.assertEqual(x.as_strided_scatter(tandem.ones(2), (2,), (5,)).tolist(), [[1, 0, 0], [0, 0, 1]])
        self.assertEqual(x.tolist(), [[0, 0, 0], [0, 0, 0]])
        with self.assertRaisesRegex(RuntimeError, "expected src to have a size equal to the slice of self"):
            x.select_scatter(tandem.ones(4), 0, 1)

    @on_each_device
    def test_scatters_have_gradients(self, device):
        x, part = tandem.ones(2, 2, requires_grad=True), tandem.ones(2, requires_grad=True)
        (tandem.select_scatter(x, part * 3, 0, 0) ** 2).sum().backward()
        self.assertEqual(x.grad.tolist(), [[0, 0], [2, 2]])
        self.assertEqual(part.grad.tolist(), [18, 18])

    @on_each_device
    def test_combinations(self, device):
        x = tandem.tensor([1, 2, 3])
        self.assertEqual(tandem.combinations(x).tolist(), [[1, 2], [1, 3], [2, 3]])
        self.assertEqual(tandem.combinations(x, 2, True).tolist(), [[1, 1], [1, 2], [1, 3], [2, 2], [2, 3], [3, 3]])
        self.assertEqual(tuple(tandem.combinations(x, 4).shape), (0, 4))

    @on_each_device
    def test_fill_diagonal(self, device):
        self.assertEqual(tandem.zeros(4, 2).fill_diagonal_(1).tolist(), [[1, 0], [0, 1], [0, 0], [0, 0]])
        self.assertEqual(tandem.zeros(5, 2).fill_diagonal_(1, wrap=True).tolist(), [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]])

    @on_each_device
    def test_sum_to_size(self, device):
        self.assertEqual(tandem.ones(2, 3, 4).sum_to_size(3, 1).tolist(), [[8], [8], [8]])
        with self.assertRaisesRegex(RuntimeError, "is not expandable to size"):
            tandem.ones(2, 3).sum_to_size(2)

    @on_each_device
    def test_nonzero_static(self, device):
        x = tandem.tensor([0, 5, 0, 6])
        self.assertEqual(tandem.nonzero_static(x, size=3).tolist(), [[1], [3], [-1]])
        self.assertEqual(x.nonzero_static(size=1).tolist(), [[1]])


class Windows(unittest.TestCase):
    @on_each_device
    def test_values(self, device):
        cosines = [math.cos(2 * math.pi * n / 4) for n in range(5)]
        for made, expected in (
            (tandem.hann_window(4), [0.5 - 0.5 * c for c in cosines[:4]]),
            (tandem.hann_window(5, periodic=False), [0.5 - 0.5 * c for c in cosines]),
            (tandem.hamming_window(4), [0.54 - 0.46 * c for c in cosines[:4]]),
            (tandem.blackman_window(4), [0.42 - 0.5 * c + 0.08 * (2 * c * c - 1) for c in cosines[:4]]),
            (tandem.bartlett_window(5, False), [0, 0.5, 1, 0.5, 0]),
            (tandem.hann_window(1), [1]),
            (tandem.hann_window(0), []),
        ):
            assert_close(made, tandem.tensor(expected, dtype=tandem.float32))
            self.assertEqual(made.device, tandem.device(device))

    def test_errors(self):
        with self.assertRaisesRegex(RuntimeError, "hann_window requires non-negative window_length, got window_length=-1"):
            tandem.hann_window(-1)


class Numbers(unittest.TestCase):
    @on_each_device
    def test_gcd_and_lcm(self, device):
        a, b = tandem.tensor([12, -18, 0, 7, 0]), tandem.tensor([18, 12, 5, 0, 0])
        self.assertEqual(tandem.gcd(a, b).tolist(), [6, 6, 5, 7, 0])
        self.assertEqual(tandem.lcm(a, b).tolist(), [36, 36, 0, 0, 0])
        self.assertEqual(a.gcd_(b).tolist(), [6, 6, 5, 7, 0])
        with self.assertRaisesRegex(NotImplementedError, "not implemented for 'Float'"):
            tandem.gcd(b.float(), b)

    @on_each_device
    def test_histogram(self, device):
        hist, edges = tandem.histogram(tandem.tensor([1.0, 2.0, 1.0, 4.0, 9.0]), 4, range=(0.0, 4.0))
        self.assertEqual((hist.tolist(), edges.tolist()), ([0, 2, 1, 1], [0, 1, 2, 3, 4]))
        density = tandem.tensor([0.5, 1.5, 1.7]).histogram(tandem.tensor([0.0, 1.0, 3.0]), density=True).hist
        assert_close(density, tandem.tensor([1 / 3, 1 / 3]))

    @on_each_device
    def test_pdist_and_renorm(self, device):
        x = tandem.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
        assert_close(tandem.pdist(x), tandem.tensor([5.0, 1.0, math.sqrt(18)]))
        assert_close(tandem.pdist(x, 1), tandem.tensor([7.0, 1.0, 6.0]))
        assert_close(tandem.renorm(x, 2, 0, 1.0), tandem.tensor([[0.0, 0.0], [0.6, 0.8], [0.0, 1.0]]))

    @on_each_device
    def test_special_functions(self, device):
        x = tandem.tensor([-30.0, -6.0, -2.0, 0.0, 1.5], dtype=tandem.float64)
        expected = [math.erfc(-v / math.sqrt(2)) / 2 for v in x.tolist()]
        assert_close(tandem.special.ndtr(x), tandem.tensor(expected, dtype=tandem.float64))
        assert_close(tandem.special.log_ndtr(x), tandem.tensor([math.log(v) for v in expected], dtype=tandem.float64), rtol=1e-8, atol=0)
        self.assertAlmostEqual(tandem.special.log_ndtr(tandem.tensor(-100.0)).item(), -5005.5242, places=2)
        entropy = tandem.special.entr(tandem.tensor([0.0, 1.0, 0.5, -1.0]))
        assert_close(entropy, tandem.tensor([0.0, 0.0, 0.5 * math.log(2), -math.inf]))
        zero = tandem.special.xlog1py(tandem.tensor([0.0, 2.0]), tandem.tensor([-1.0, 1.0]))
        assert_close(zero, tandem.tensor([0.0, 2 * math.log(2)]))
        gamma = tandem.special.multigammaln(tandem.tensor([3.0]), 2)
        assert_close(gamma, tandem.tensor([math.lgamma(3) + math.lgamma(2.5) + 0.5 * math.log(math.pi)]))


class Matrices(unittest.TestCase):
    @on_each_device
    def test_cholesky(self, device):
        a, b = tandem.tensor(MATRIX), tandem.tensor([[1.0], [2.0], [3.0]])
        for upper in (False, True):
            factor = tandem.linalg.cholesky(a, upper=upper)
            assert_close(a @ tandem.cholesky_solve(b, factor, upper), b)
            assert_close(a @ tandem.cholesky_inverse(factor, upper), tandem.eye(3), rtol=0, atol=1e-5)

    @on_each_device
    def test_old_svd_gives_columns(self, device):
        x = tandem.tensor([[3.0, 0.0], [4.0, 5.0], [1.0, 1.0]])
        u, s, v = x.svd()
        self.assertEqual((tuple(u.shape), tuple(v.shape)), ((3, 2), (2, 2)))
        assert_close(u @ tandem.diag(s) @ v.T, x)
        self.assertEqual(tuple(tandem.svd(x, some=False).U.shape), (3, 3))

    @on_each_device
    def test_matrix_exp(self, device):
        turn = tandem.tensor([[0.0, -2.0], [2.0, 0.0]])
        expected = tandem.tensor([[math.cos(2), -math.sin(2)], [math.sin(2), math.cos(2)]])
        assert_close(tandem.matrix_exp(turn), expected)
        assert_close(tandem.linalg.matrix_exp(tandem.zeros(2, 2)), tandem.eye(2))
        x = tandem.zeros(2, 2, requires_grad=True)
        tandem.matrix_exp(x).trace().backward()
        assert_close(x.grad, tandem.eye(2))

    @on_each_device
    def test_condition_and_tensor_equations(self, device):
        assert_close(tandem.linalg.cond(tandem.diag(tandem.tensor([4.0, 2.0]))), tandem.tensor(2.0))
        assert_close(tandem.linalg.cond(tandem.tensor([[1.0, 2.0], [3.0, 4.0]]), 1), tandem.tensor(21.0), rtol=1e-4, atol=0)
        a = (tandem.eye(4) * 2).reshape(2, 2, 4)
        assert_close(tandem.linalg.tensorsolve(a, tandem.ones(2, 2)), tandem.full((4,), 0.5))
        assert_close(tandem.linalg.tensorinv(a), tandem.eye(4).reshape(4, 2, 2) / 2)
        self.assertEqual(tandem.linalg.vander(tandem.tensor([2.0, 3.0]), 3).tolist(), [[1, 2, 4], [1, 3, 9]])


class Derivatives(unittest.TestCase):
    @on_each_device
    def test_jvp(self, device):
        x, v = tandem.tensor([1.0, 2.0]), tandem.tensor([3.0, -1.0])
        value, product = tandem.autograd.functional.jvp(lambda a: a**3, x, v)
        self.assertEqual((value.tolist(), product.tolist()), ([1, 8], [9, -12]))


class AssertClose(unittest.TestCase):
    def text(self, *args, **kwargs):
        with self.assertRaises(AssertionError) as caught:
            assert_close(*args, **kwargs)
        return str(caught.exception)

    @on_each_device
    def test_where_tensors_differ(self, device):
        text = self.text(tandem.tensor([[1.0, 2.0], [3.0, 4.0]]), tandem.tensor([[1.0, 2.0], [3.5, 4.0]]))
        self.assertEqual(
            text,
            "Tensor-likes are not close!\n\nMismatched elements: 1 / 4 (25.0%)\n"
            "Greatest absolute difference: 0.5 at index (1, 0) (up to 1e-05 allowed)\n"
            f"Greatest relative difference: {(tandem.tensor(0.5) / 3.5).item()} at index (1, 0) (up to 1.3e-06 allowed)",
        )

    def test_equality_where_there_are_no_tolerances(self):
        text = self.text(tandem.tensor([1, 2]), tandem.tensor([1, 3]))
        self.assertTrue(text.startswith("Tensor-likes are not equal!\n\nMismatched elements: 1 / 2"))

    def test_tolerances_of_dtypes(self):
        for dtype, close, far in (
            (tandem.float16, 1e-3, 3e-3),
            (tandem.bfloat16, 1.5e-2, 4e-2),
            (tandem.float32, 1e-5, 3e-5),
            (tandem.float64, 1e-7, 3e-7),
        ):
            one = tandem.tensor([1.0], dtype=dtype)
            assert_close(one + close, one)
            self.text(one + far, one)

    def test_numbers_and_collections(self):
        assert_close({"a": [1.0, None], "b": (True,)}, {"b": (True,), "a": [1.0 + 1e-9, None]})
        self.assertEqual(
            self.text({"a": [1, 2]}, {"a": [1, 4]}),
            "Scalars are not equal!\n\nExpected 4 but got 2.\nAbsolute difference: 2\nRelative difference: 0.5\n\n"
            "The failure occurred for item ['a'][1]",
        )
        self.assertEqual(self.text([1], [1, 2]), "The length of the sequences mismatch: 1 != 2")
        self.assertEqual(self.text(1, 1.0), "The (d)types do not match: <class 'int'> != <class 'float'>.")
        self.assertIn("Missing keys in the actual mapping: ['b']", self.text({"a": 1}, {"b": 1}))

    def test_attributes(self):
        one = tandem.tensor([1.0])
        self.assertIn("The values for attribute 'dtype' do not match", self.text(one, one.double()))
        assert_close(one, one.double(), check_dtype=False)
        self.assertIn("The values for attribute 'shape' do not match", self.text(one, one.reshape(1, 1)))
        if len(DEVICES) > 1:
            self.assertIn("The values for attribute 'device' do not match", self.text(one, one.cuda()))
            assert_close(one, one.cuda(), check_device=False)

    def test_nan_message_and_misuse(self):
        nan = tandem.tensor([math.nan])
        self.text(nan, nan)
        assert_close(nan, nan, equal_nan=True)
        self.assertEqual(self.text(1.0, 2.0, msg=lambda text: text.splitlines()[0] + "?"), "Scalars are not close!?")
        with self.assertRaisesRegex(ValueError, "but got no atol"):
            assert_close(1.0, 1.0, rtol=1.0)
        with self.assertRaisesRegex(TypeError, "No comparison pair was able to handle inputs of type"):
            assert_close(nan, 1.0)

    @on_each_device
    def test_make_tensor(self, device):
        made = make_tensor(100, dtype=tandem.int64, device=device, low=-2, high=2, exclude_zero=True)
        self.assertEqual(set(made.tolist()), {-2, -1, 1})
        self.assertEqual(make_tensor((2, 3), dtype=tandem.float32, device=device, noncontiguous=True).is_contiguous(), False)


class DefaultDevice(unittest.TestCase):
    @unittest.skipUnless(len(DEVICES) > 1, "needs a GPU")
    def test_a_block_and_a_decorator(self):
        @tandem.device("cuda:0")
        def make():
            return tandem.ones(2).device

        with tandem.device("cuda:0") as device:
            self.assertEqual((device, tandem.ones(2).device), (tandem.device("cuda:0"), tandem.device("cuda:0")))
            with self.assertRaises(KeyError), tandem.device("cpu"):
                self.assertEqual(tandem.ones(2).device, tandem.device("cpu"))
                raise KeyError
            self.assertEqual(tandem.ones(2).device, tandem.device("cuda:0"))
        self.assertEqual((make(), tandem.ones(2).device), (tandem.device("cuda:0"), tandem.device("cpu")))


class Formats(unittest.TestCase):
    def test_a_tensor_without_dimensions_is_formatted_as_its_number(self):
        self.assertEqual(f"{tandem.tensor(1.5)} {tandem.tensor(3)} {tandem.tensor(2.25):.1f}", "1.5 3 2.2")
        self.assertEqual(f"{tandem.tensor([1.5])}", "tensor([1.5000])")


if __name__ == "__main__":
    unittest.main()
