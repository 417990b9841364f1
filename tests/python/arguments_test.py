"""Arguments of functions that are written in Python: errors in PyTorch's words, out=, and the functions by their other names."""

import copy
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


class Forms(unittest.TestCase):
    """Ways in which PyTorch's users write a call."""

    def same(self, expected, *results):
        for result in results:
            self.assertEqual(result.tolist(), expected)

    def test_scatter(self):
        x, index = torch.ones(2, 3), torch.tensor([[0, 1], [2, 0]])
        twos = torch.full((2, 2), 2.0)
        self.same(
            [[5, 5, 1], [5, 1, 5]], x.scatter(1, index, 5.0), x.scatter(1, index, value=5.0), torch.scatter(x, 1, index, value=5.0),
            torch.scatter(input=x, dim=1, index=index, src=twos + 3), x.clone().scatter_(1, index, value=5), x.scatter(dim=1, index=index, value=5.0),
        )
        self.same(
            [[3, 3, 1], [3, 1, 3]], x.scatter(1, index, 2.0, reduce="add"), torch.scatter(x, 1, index, twos, reduce="add"),
            x.clone().scatter_(1, index, twos, reduce="add"), x.clone().scatter_(1, index, value=2.0, reduce="add"),
        )
        self.same(
            [[2, 2, 1], [2, 1, 2]], x.scatter(1, index, twos, reduce="multiply"), x.clone().scatter_(1, index, 2.0, reduce="multiply"),
        )
        with self.assertRaisesRegex(RuntimeError, "reduce argument must be either add or multiply"):
            x.scatter_(1, index, 2.0, reduce="mean")

    def test_changes_in_place_are_recorded(self):
        index = torch.tensor([[0, 1, 1]])
        for reduce, of_x in (("add", [1, 1]), ("multiply", [2, 9])):
            x = torch.ones(1, 2, requires_grad=True)
            (x * 1).scatter_(1, index, torch.tensor([[2.0, 3.0, 3.0]]), reduce=reduce).sum().backward()
            self.assertEqual(x.grad.tolist(), [of_x])

    def test_no_dtype(self):
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        for name in ("softmax", "log_softmax"):
            function = getattr(torch, name)
            self.same(function(x, 1).tolist(), function(x, 1, dtype=None), function(x, 1, None), getattr(x, name)(1, None), getattr(x, name)(dim=1, dtype=None))
        self.same(24, torch.prod(x, dtype=None), x.prod(dtype=None), x.prod(dtype=torch.float64))
        self.same([2, 12], x.prod(1, dtype=None))

    def test_several_dimensions(self):
        x = torch.tensor([[3.0, 0.0], [0.0, 4.0]])
        self.same((x / 5).tolist(), torch.nn.functional.normalize(x, dim=(0, 1)), torch.nn.functional.normalize(x, dim=None))
        self.same((x / 5).tolist(), torch.nn.functional.normalize(x, dim=(0, 1), out=torch.empty(0)))
        self.same([[1, 0], [0, 1]], torch.nn.functional.normalize(x, dim=1), torch.nn.functional.normalize(x, 2.0, -1))

    def test_a_tensor_without_dimensions_is_no_dimension(self):
        x, zero = torch.tensor([[-1.0, 2.0], [3.0, -4.0]]), torch.tensor(0)
        self.same([[0, 2], [3, 0]], torch.max(x, zero), x.max(zero), x.max(other=zero))
        self.same([[-1, 0], [0, -4]], torch.min(x, zero), x.min(zero))
        self.same([3, 2], x.max(0).values, torch.max(x, dim=0)[0])
        self.same([[2], [3]], x.max(torch.tensor(1), keepdim=True).values, x.max(torch.tensor(1), True)[0])

    def test_names_and_defaults(self):
        self.same([1, 0], torch.bernoulli(input=torch.tensor([1.0, 0.0])))
        self.assertEqual(torch.normal(torch.zeros(3)).shape, (3,))
        self.same([[0.5, 1.0], [1.0, 2.0]], torch.cov(torch.tensor([[1, 2], [3, 5]])))
        self.same(float("inf"), torch.cov(torch.tensor([1.0, 3.0]), correction=9), torch.cov(torch.tensor([1.0, 3.0]), fweights=torch.tensor([1, 1]), correction=9))

    def test_single_arguments_by_name(self):
        generator = torch.manual_seed(seed=3)
        self.assertEqual((torch.initial_seed(), generator.manual_seed(seed=4).initial_seed()), (3, 4))
        state = generator.get_state()
        generator.set_state(new_state=state)
        self.assertIs(torch.promote_types(type1=torch.int32, type2=torch.float32), torch.float32)
        self.assertTrue(torch.can_cast(from_=torch.int32, to=torch.float32))
        torch.set_default_device(device="cpu")
        torch.set_default_device(device=None)
        torch.set_default_dtype(d=torch.float32)
        self.assertEqual(torch.ones(2).view(dtype=torch.int32).dtype, torch.int32)
        if torch.cuda.device_count():
            stream, event = torch.cuda.Stream(), torch.cuda.Event()
            event.record()
            stream.wait_event(event=event)
            stream.wait_stream(stream=torch.cuda.current_stream())
            torch.ones(2, device="cuda:0").record_stream(stream=stream)
        for call in (lambda: torch.manual_seed(), lambda: torch.manual_seed(1, 2), lambda: torch.manual_seed(number=1)):
            self.assertRaises(TypeError, call)

    def test_numbers_before_tensors(self):
        x = torch.ones(2, requires_grad=True)
        for y in (2 * x, 2 + x, x * 2):
            self.assertEqual(type(y.grad_fn.next_functions[0][0]).__name__, "AccumulateGrad")
        self.same([-1, -1], 1 - x - x)


class Words(unittest.TestCase):
    """The class of an error, and its first words, are PyTorch's."""

    def refused(self, kind, text, function):
        with self.assertRaises(kind) as caught:
            function()
        self.assertTrue(type(caught.exception) is kind and str(caught.exception).startswith(text), repr(caught.exception))

    def test_indices(self):
        x, far = torch.zeros(2, 3), torch.tensor([[9]])
        self.refused(RuntimeError, "index 9 is out of bounds for", lambda: x.gather(1, far))
        self.refused(RuntimeError, "index 9 is out of bounds for", lambda: x.scatter(1, far, 1.0))
        self.refused(RuntimeError, "index 9 is out of bounds for", lambda: x.scatter_add(1, far, x))
        self.refused(IndexError, "index 9 is out of bounds for", lambda: x[far])
        self.refused(IndexError, "index out of range in self", lambda: x.index_select(0, far[0]))
        for loss in (torch.nn.functional.nll_loss, torch.nn.functional.cross_entropy):
            self.refused(IndexError, "Target 9 is out of bounds", lambda loss=loss: loss(x, far[0].expand(2)))
        self.refused(IndexError, "out of range: tried to access index 9 on a tensor of 6 elements", lambda: x.take(far))
        self.refused(IndexError, "argmax(): Expected reduction dim 0 to have non-zero size", lambda: torch.empty(0).argmax(0))
        self.refused(TypeError, "new(): invalid data type 'str'", lambda: x["a"])

    def test_operators(self):
        self.refused(TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors", lambda: ~torch.ones(2))


class Out(unittest.TestCase):
    def test_what_creates_tensors(self):
        for create in (
            lambda out: torch.rand(3, out=out), lambda out: torch.randn(3, out=out), lambda out: torch.randint(5, (3,), out=out),
            lambda out: torch.randperm(3, out=out), lambda out: torch.arange(3, out=out), lambda out: torch.full((3,), 2, out=out),
        ):
            for dtype in (torch.float32, torch.float64):
                out = torch.full((7,), -1.0, dtype=dtype)
                result = create(out)
                self.assertIs(result, out)
                self.assertEqual((out.shape, out.dtype), ((3,), dtype))
                self.assertNotEqual(out.tolist(), [-1.0] * 3)
        torch.manual_seed(3)
        expected = torch.rand(3, dtype=torch.float64)
        torch.manual_seed(3)
        self.assertEqual(torch.rand(3, out=torch.empty(0, dtype=torch.float64)).tolist(), expected.tolist())

    def test_sizes_of_what_is_made_of_others(self):
        x = torch.tensor([[3.0, 0.0], [0.0, 4.0]])
        for function in (torch.linalg.norm, torch.linalg.vector_norm, torch.linalg.matrix_norm, torch.linalg.cond, torch.i0, torch.special.i1):
            for size in (0, 5):
                out = torch.empty(size)
                self.assertIs(function(x, out=out), out)
                self.assertEqual(out.tolist(), function(x).tolist())
        for function in (torch.linalg.pinv, torch.special.i1):
            self.assertEqual(function(x, out=torch.empty(0, dtype=torch.float64)).float().tolist(), function(x).tolist())
        with self.assertRaisesRegex(RuntimeError, "can't be cast"):
            torch.special.i1(x, out=torch.empty(0, dtype=torch.int64))

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

    def test_resize_keeps_the_memory(self):
        x = torch.arange(6.0).view(2, 3)
        y = x.view(6)
        y.resize_(1, 3)
        y[0, 0] = 9
        self.assertEqual(x.tolist(), [[9, 1, 2], [3, 4, 5]])
        self.assertEqual(x.resize_(1, 3).resize_((2, 3), memory_format=torch.contiguous_format).tolist(), [[9, 1, 2], [3, 4, 5]])
        self.assertEqual(x.resize_(8)[:6].tolist(), [9, 1, 2, 3, 4, 5])
        turned = torch.arange(6.0).view(2, 3).t()
        self.assertEqual((turned.resize_(3, 2).tolist(), turned.stride()), ([[0, 3], [1, 4], [2, 5]], (1, 3)))
        with self.assertRaisesRegex(RuntimeError, "cannot resize variables that require grad"):
            torch.ones(2, requires_grad=True).resize_(3)

    def test_a_copy_of_several_shares_what_they_shared(self):
        x = torch.arange(6.0)
        whole, every_other, grown = copy.deepcopy([x, x[::2], x.view(2, 3)])
        whole[0] = 9
        self.assertEqual((every_other[0].item(), grown[0, 0].item(), x[0].item()), (9, 9, 0))
        part, other = copy.deepcopy((x[1:3], x))
        part[0] = 7
        self.assertEqual((other[1].item(), part.tolist(), part.stride()), (7, [7, 2], (1,)))
        first, second = copy.deepcopy((torch.empty(0, 2), torch.empty(3, 0, dtype=torch.int64)))
        self.assertEqual((first.shape, first.dtype, second.shape, second.dtype), ((0, 2), torch.float32, (3, 0), torch.int64))
        alone = copy.deepcopy(torch.ones(2, 3).t())
        self.assertEqual((alone.shape, alone.stride()), ((3, 2), (1, 3)))

    def test_old_constructors_share_memory(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("needs NumPy")
        array = numpy.ones(3, dtype="f4")
        x, y = torch.Tensor(array), torch.FloatTensor(array)
        array[0] = 5
        self.assertEqual((x.tolist(), y.tolist()), ([5, 1, 1], [5, 1, 1]))
        self.assertEqual(torch.Tensor(numpy.array([1.0, 2.0])).dtype, torch.float32)
        self.assertRaisesRegex(RuntimeError, "Expected a Storage", torch.LongTensor, x.storage())
        z = torch.Tensor(x.storage())
        z[1] = 4
        self.assertEqual(x.tolist(), [5, 4, 1])

    def test_linspace_is_rounded_as_pytorch_rounds_it(self):
        for bounds, expected in (
            ((0.9, -0.4, 16), "1.cccccc0p-1 1.a06d3a0p-1 1.740da60p-1 1.47ae140p-1 1.1b4e800p-1 1.dddddc0p-2 1.851eb80p-2 1.2c5f920p-2 1.a740d80p-3 "
             "1.eb851c0p-4 1.11110c0p-5 -1.b4e8200p-5 -1.1eb8540p-3 -1.d0369e0p-3 -1.40da740p-2 -1.99999a0p-2"),
            ((-1.0, 1.0, 5), "-1p0 -1p-1 0p0 1p-1 1p0"),
        ):
            self.assertEqual(torch.linspace(*bounds).tolist(), [float.fromhex(number) for number in expected.split()])
        self.assertEqual(torch.linspace(-1, 1, 25)[12].item(), -(2.0**-25))  # what PyTorch prints as -2.9802e-08
        self.assertEqual((torch.linspace(3, 5, 1).tolist(), torch.linspace(3, 5, 0).tolist()), ([3], []))

    def test_common_dtypes(self):
        self.assertEqual(torch.gcd(torch.tensor([4], dtype=torch.uint8), torch.tensor(6)).dtype, torch.uint8)
        self.assertEqual(torch.nextafter(torch.tensor([1.0]), torch.tensor(2.0, dtype=torch.float64)).dtype, torch.float32)
        self.assertEqual(torch.nonzero(torch.tensor(3), as_tuple=True)[0].tolist(), [0])


if __name__ == "__main__":
    unittest.main()
