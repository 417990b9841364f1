"""Tensors as objects of Python: how they are made, printed, indexed and computed with, their facts, and what they refuse."""

import copy
import gc
import math
import pickle
import unittest

import tandem
from tandem import nn

try:
    import numpy
except ImportError:
    numpy = None

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])
FLOATING = [tandem.float16, tandem.bfloat16, tandem.float32, tandem.float64]
WHOLE = [tandem.uint8, tandem.int8, tandem.int16, tandem.int32, tandem.int64]
NAN, INF = float("nan"), float("inf")


class Case(unittest.TestCase):
    def same(self, tensor, values, dtype=None):
        self.assertEqual(tensor.tolist(), values)
        if dtype is not None:
            self.assertIs(tensor.dtype, dtype)

    def refuses(self, error, text, call, *args, **kwargs):
        with self.assertRaises(error) as raised:
            call(*args, **kwargs)
        self.assertTrue(str(raised.exception).startswith(text), f"{str(raised.exception)!r} does not begin with {text!r}")


class Making(Case):
    def test_numbers(self):
        self.same(tandem.tensor(3), 3, tandem.int64)
        self.same(tandem.tensor(2.5), 2.5, tandem.float32)
        self.same(tandem.tensor(True), True, tandem.bool)
        self.assertEqual(tandem.tensor(3).shape, ())

    def test_lists(self):
        for device in DEVICES:
            self.same(tandem.tensor([[1, 2], [3, 4]], device=device), [[1, 2], [3, 4]], tandem.int64)
            self.same(tandem.tensor([1, 2.5], device=device), [1.0, 2.5], tandem.float32)
            self.same(tandem.tensor([True, 2], device=device), [1, 2], tandem.int64)
            self.same(tandem.tensor((True, False), device=device), [True, False], tandem.bool)
        self.same(tandem.tensor([]), [], tandem.float32)
        self.assertEqual(tandem.tensor([[], []]).shape, (2, 0))
        self.same(tandem.tensor(range(3)), [0, 1, 2], tandem.int64)
        self.same(tandem.tensor([tandem.tensor(1), tandem.tensor(2.5)]), [1.0, 2.5], tandem.float32)
        self.same(tandem.tensor([tandem.tensor([1]), tandem.tensor(2), 3]), [1, 2, 3], tandem.int64)
        self.refuses(ValueError, "only one element tensors can be converted", tandem.tensor, [tandem.tensor([1, 2]), tandem.tensor([3, 4])])

    def test_dtypes(self):
        for dtype in FLOATING:
            self.same(tandem.tensor([0.5, -2], dtype=dtype), [0.5, -2.0], dtype)
        for dtype in WHOLE:
            self.same(tandem.tensor([1.9, 7], dtype=dtype), [1, 7], dtype)
        self.same(tandem.tensor([0, 2], dtype=tandem.bool), [False, True], tandem.bool)
        self.same(tandem.tensor([-1], dtype=tandem.uint8), [255])
        self.same(tandem.tensor([1], dtype=float), [1.0], tandem.float64)
        self.same(tandem.tensor([1.5], dtype=int), [1], tandem.int64)
        self.same(tandem.tensor([1.5], dtype=bool), [True], tandem.bool)
        self.same(tandem.tensor([2**63 - 1, -(2**63)]), [2**63 - 1, -(2**63)])

    def test_what_does_not_fit(self):
        self.refuses(RuntimeError, "value cannot be converted to type uint8 without overflow", tandem.tensor, [300], dtype=tandem.uint8)
        self.refuses(RuntimeError, "value cannot be converted to type int8 without overflow", tandem.tensor, -129, dtype=tandem.int8)
        self.refuses(RuntimeError, "value cannot be converted to type int64 without overflow", tandem.tensor, NAN, dtype=tandem.int64)
        self.refuses(ValueError, "Overflow when unpacking long long", tandem.tensor, 2**63)
        self.refuses(ValueError, "expected sequence of length 2 at dim 1 (got 1)", tandem.tensor, [[1, 2], [3]])
        self.refuses(TypeError, "new(): invalid data type 'str'", tandem.tensor, "a")
        self.refuses(TypeError, "new(): invalid data type 'str'", tandem.tensor, [1, "a"])
        self.refuses(RuntimeError, "Could not infer dtype of NoneType", tandem.tensor, None)
        self.refuses(RuntimeError, "Could not infer dtype of dict", tandem.tensor, {"a": 1})
        self.refuses(TypeError, "tensor() takes 1 positional argument but 2 were given", tandem.tensor, 1, 2)
        self.refuses(TypeError, "tensor() got an unexpected keyword argument 'foo'", tandem.tensor, 1, foo=1)
        self.refuses(TypeError, "tensor(): argument 'dtype' must be", tandem.tensor, 1, dtype="float32")
        self.refuses(RuntimeError, "only Tensors of floating point", tandem.tensor, [1], requires_grad=True)

    def test_of_a_tensor_warns_and_copies(self):
        source = tandem.tensor([1.0])
        with self.assertWarns(UserWarning):
            made = tandem.tensor(source)
        made[0] = 5
        self.same(source, [1.0])

    def test_a_sequence_of_ones_own(self):
        class Three:
            def __len__(self):
                return 3

            def __getitem__(self, i):
                if i >= 3:
                    raise IndexError
                return i * 10

        self.same(tandem.tensor(Three()), [0, 10, 20])

        class Broken(Three):
            def __getitem__(self, i):
                raise KeyError("lost")

        with self.assertRaises(KeyError):
            tandem.tensor(Broken())

    def test_data_that_changes_while_it_is_read(self):
        class Clears:
            def __len__(self):
                return 3

            def __getitem__(self, i):
                data.clear()
                return 1.0

        for make in (lambda: [Clears(), [1.0, 2.0, 3.0], Clears()], lambda: [[1.0, 2.0, 3.0], Clears(), [1.0, 2.0, 3.0]]):
            data = make()
            with self.assertRaises((RuntimeError, ValueError)):
                tandem.tensor(data)

        class Grows:
            calls = 0

            def __len__(self):
                Grows.calls += 1
                return 2 if Grows.calls < 6 else 100000

            def __getitem__(self, i):
                return 1

        with self.assertRaises((RuntimeError, ValueError)):
            tandem.tensor([Grows(), Grows()])

        class Index:
            def __index__(self):
                sizes.clear()
                return 1

        sizes = [Index(), Index(), 5]
        self.assertEqual(tandem.zeros(sizes).shape, (1,))
        sizes = [Index(), 1]
        with self.assertRaises(RuntimeError):
            tandem.ones(3)[sizes]
        nested = []
        nested.append(nested)
        self.refuses(ValueError, "too many dimensions", tandem.tensor, nested)

    def test_sizes(self):
        for call in (tandem.zeros, tandem.ones, tandem.empty, tandem.rand, tandem.randn):
            for args in ((2, 3), ((2, 3),), ([2, 3],), (tandem.Size([2, 3]),), (tandem.tensor(2), 3)):
                self.assertEqual(call(*args).shape, (2, 3))
            self.assertEqual(call(size=(4,)).shape, (4,))
            self.assertEqual(call(()).shape, ())
        self.refuses(RuntimeError, "Trying to create tensor with negative dimension -1: [-1]", tandem.zeros, -1)
        self.refuses(TypeError, "zeros(): argument 'size' (position 1) must be tuple of ints, not", tandem.zeros, 2.5)
        self.refuses(TypeError, "zeros(): argument 'size' (position 1) must be tuple of ints, not str", tandem.zeros, "a")
        with self.assertRaises(RuntimeError):
            tandem.zeros(2**62, 2**62)

    def test_ranges(self):
        self.same(tandem.arange(4), [0, 1, 2, 3], tandem.int64)
        self.same(tandem.arange(1, 2, 0.5), [1.0, 1.5], tandem.float32)
        self.same(tandem.arange(3, 0, -1), [3, 2, 1])
        self.same(tandem.linspace(0, 1, 3), [0.0, 0.5, 1.0])
        self.same(tandem.full((2,), 7), [7, 7], tandem.int64)
        self.same(tandem.eye(2), [[1.0, 0.0], [0.0, 1.0]])
        self.refuses(RuntimeError, "step must be nonzero", tandem.arange, 0, 1, 0)
        self.refuses(RuntimeError, "upper bound and lower bound inconsistent with step sign", tandem.arange, 5, 1)

    def test_like_another(self):
        for device in DEVICES:
            x = tandem.ones(2, 3, device=device, dtype=tandem.float64)
            for made in (tandem.zeros_like(x), x.new_zeros(2, 3), x.new_zeros((2, 3)), x.new_full((2, 3), 0)):
                self.assertEqual((made.shape, made.dtype, made.device), (x.shape, x.dtype, x.device))
                self.assertEqual(made.sum().item(), 0)
            self.same(x.new_tensor([1, 2]), [1.0, 2.0], tandem.float64)
            self.assertIs(tandem.ones_like(x, dtype=tandem.int32).dtype, tandem.int32)

    def test_old_constructors(self):
        self.same(tandem.Tensor([1, 2]), [1.0, 2.0], tandem.float32)
        self.assertEqual(tandem.Tensor(2, 3).shape, (2, 3))
        self.assertEqual(tandem.Tensor().shape, (0,))
        self.same(tandem.LongTensor([1, 2]), [1, 2], tandem.int64)
        self.assertIsInstance(tandem.ones(1), tandem.FloatTensor)
        self.assertNotIsInstance(tandem.ones(1), tandem.LongTensor)

    def test_out(self):
        for device in DEVICES:
            x, out = tandem.ones(3, device=device), tandem.empty(0, device=device)
            self.assertIs(tandem.add(x, x, out=out), out)
            self.same(out, [2.0, 2.0, 2.0])
            tandem.mul(out, 2, out=out)
            self.same(out, [4.0, 4.0, 4.0])
        self.refuses(
            RuntimeError,
            "result type Float can't be cast to the desired output type Long",
            tandem.add,
            tandem.ones(1),
            1.5,
            out=tandem.zeros(1, dtype=tandem.int64),
        )
        weight = tandem.ones(1, requires_grad=True)
        self.refuses(
            RuntimeError,
            "functions with out=... arguments don't support automatic differentiation",
            tandem.add,
            weight,
            1,
            out=tandem.empty(1),
        )


class Facts(Case):
    def test_size(self):
        size = tandem.ones(2, 3).shape
        self.assertEqual(repr(size), "torch.Size([2, 3])".replace("torch", "tandem"))
        self.assertEqual((size, size[0], size[:1], size + (4,), size * 2), ((2, 3), 2, tandem.Size([2]), (2, 3, 4), (2, 3, 2, 3)))
        for part in (size[:1], size + (4,), size * 2, tandem.Size(), tandem.Size(n for n in (1, 2))):
            self.assertIs(type(part), tandem.Size)
        self.assertEqual((size.numel(), tandem.Size().numel(), len(size)), (6, 1, 2))
        self.assertEqual(tandem.Size([tandem.tensor(4)]), (4,))
        self.assertEqual(pickle.loads(pickle.dumps(size)), size)
        self.assertEqual({size: 1}[(2, 3)], 1)
        self.refuses(TypeError, "tandem.Size() takes an iterable of 'int' (item 1 is 'str')", tandem.Size, [1, "a"])
        self.refuses(TypeError, "tandem.Size() takes an iterable of 'int' (item 0 is 'float')", tandem.Size, [1.5])

    def test_dtype(self):
        for dtype in FLOATING + WHOLE + [tandem.bool]:
            self.assertEqual(dtype.is_floating_point, dtype in FLOATING)
            self.assertEqual(dtype.is_signed, dtype not in (tandem.bool, tandem.uint8))
            self.assertIs(pickle.loads(pickle.dumps(dtype)), dtype)
            self.assertIs(copy.deepcopy(dtype), dtype)
            self.assertEqual(tandem.empty(1, dtype=dtype).element_size(), dtype.itemsize)
        self.assertEqual([d.itemsize for d in (tandem.bool, tandem.int16, tandem.bfloat16, tandem.float64)], [1, 2, 2, 8])
        self.assertIs(tandem.float, tandem.float32)
        self.assertIs(tandem.long, tandem.int64)
        self.assertNotEqual(tandem.float32, "float32")
        self.assertEqual(str(tandem.float16), "tandem.float16")

    def test_promotion(self):
        self.assertIs(tandem.promote_types(tandem.int64, tandem.float16), tandem.float16)
        self.assertIs(tandem.promote_types(tandem.float16, tandem.bfloat16), tandem.float32)
        self.assertIs(tandem.promote_types(tandem.uint8, tandem.int8), tandem.int16)
        self.assertIs((tandem.ones(2, dtype=tandem.int32) + 1.5).dtype, tandem.float32)
        self.assertIs((tandem.ones(2, dtype=tandem.float16) + tandem.tensor(1.0, dtype=tandem.float64)).dtype, tandem.float16)
        self.assertIs((tandem.ones(2, dtype=tandem.uint8) + 300).dtype, tandem.uint8)
        self.assertIs((tandem.ones(2, dtype=tandem.int64) / 2).dtype, tandem.float32)
        self.assertIs((tandem.ones(2, dtype=tandem.bool) + True).dtype, tandem.bool)

    def test_device(self):
        self.assertEqual(repr(tandem.device("cuda", 1)), "device(type='cuda', index=1)")
        self.assertEqual(repr(tandem.device("cpu")), "device(type='cpu')")
        self.assertEqual((str(tandem.device("cuda:1")), tandem.device("cuda:1").index, tandem.device("cuda").index), ("cuda:1", 1, None))
        self.assertEqual(tandem.device("cuda:0"), tandem.device(0))
        self.assertNotEqual(tandem.device("cuda"), tandem.device("cuda:0"))
        self.assertNotEqual(tandem.device("cpu"), "cpu")
        self.assertEqual(len({tandem.device("cpu"), tandem.device("cpu"), tandem.device("cuda")}), 2)
        self.assertEqual(pickle.loads(pickle.dumps(tandem.device("cuda:1"))), tandem.device("cuda:1"))
        for text in ("cuda:", "cuda:-1", "cuda:01"):
            self.refuses(RuntimeError, f"Invalid device string: '{text}'", tandem.device, text)
        self.refuses(RuntimeError, "Device string must not be empty", tandem.device, "")
        self.refuses(RuntimeError, "Expected one of cpu, cuda device type at start of device string: foo", tandem.device, "foo")
        self.refuses(
            RuntimeError, "type (string) must not include an index because index was passed explicitly: cuda:0", tandem.device, "cuda:0", 1
        )
        for wrong in (None, 1.5, [1]):
            self.refuses(TypeError, "device(): argument 'type' (position 1) must be str", tandem.device, wrong)
        self.refuses(RuntimeError, "Device index must be at most", tandem.device, 2**32)

    def test_layout(self):
        x = tandem.zeros(2, 3)
        self.assertEqual((x.stride(), x.stride(0), x.t().stride(), x.t().is_contiguous()), ((3, 1), 3, (1, 3), False))
        self.assertEqual((x.numel(), x.dim(), x.ndim, x.nbytes, x.itemsize, x[1].storage_offset()), (6, 2, 2, 24, 4, 3))
        self.assertEqual((x.size(), x.size(0), x.size(-1), x.size(dim=1), len(x)), ((2, 3), 2, 3, 3, 2))
        self.assertIs(x.layout, tandem.strided)
        self.assertEqual(repr(x.layout), "torch.strided")
        self.refuses(IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.size, 2)
        self.refuses(TypeError, "len() of a 0-d tensor", len, tandem.tensor(1))


class Printing(Case):
    def test_tensors(self):
        for made, text in (
            (tandem.tensor([1, 2, 3]), "tensor([1, 2, 3])"),
            (tandem.tensor([1.0, 2.0]), "tensor([1., 2.])"),
            (tandem.tensor([0.5, 2.0]), "tensor([0.5000, 2.0000])"),
            (tandem.tensor(2.5), "tensor(2.5000)"),
            (tandem.tensor([]), "tensor([])"),
            (tandem.zeros(0, 3), "tensor([], size=(0, 3))"),
            (tandem.tensor([True, False]), "tensor([ True, False])"),
            (tandem.tensor([1, -100]), "tensor([   1, -100])"),
            (tandem.tensor([1e10, 1.0]), "tensor([1.0000e+10, 1.0000e+00])"),
            (tandem.tensor([1.0, NAN]), "tensor([1., nan])"),
            (tandem.tensor([1.5, INF]), "tensor([1.5000,    inf])"),
            (tandem.tensor([1.5], dtype=tandem.float16), "tensor([1.5000], dtype=tandem.float16)"),
            (tandem.tensor([1], dtype=tandem.int32), "tensor([1], dtype=tandem.int32)"),
            (tandem.tensor([1.0], requires_grad=True), "tensor([1.], requires_grad=True)"),
            (tandem.tensor([1.0], requires_grad=True) * 2, "tensor([2.], grad_fn=<MulBackward0>)"),
            (tandem.ones(2, 2), "tensor([[1., 1.],\n        [1., 1.]])"),
            (tandem.arange(2000), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
        ):
            self.assertEqual(repr(made), text)
            self.assertEqual(str(made), text)
        self.assertEqual(repr(tandem.nn.Parameter(tandem.tensor([1.0]))), "Parameter containing:\ntensor([1.], requires_grad=True)")
        for device in DEVICES[1:]:
            self.assertEqual(repr(tandem.ones(2, device=device)), f"tensor([1., 1.], device='{device}')")

    def test_options(self):
        try:
            tandem.set_printoptions(precision=2, threshold=4, edgeitems=1)
            self.assertEqual(repr(tandem.tensor([0.125])), "tensor([0.12])")
            self.assertEqual(repr(tandem.arange(9)), "tensor([0,  ..., 8])")
        finally:
            tandem.set_printoptions(profile="default")

    def test_sci_mode(self):
        wanted = {
            True: ("tensor([1.0000e+00, 2.0000e+00])", "tensor([       inf, 3.0000e+00])", "tensor([0., 0.])"),
            False: ("tensor([1000.5000,    0.0000])", "tensor([1000000000.,          2.])", "tensor([   nan, 0.0000])"),
            None: ("tensor([1.0005e+03, 2.0000e-07])", "tensor([0.5000, 0.2500])", "tensor([1., 2.])"),
        }
        values = {True: ([1.0, 2.0], [float("inf"), 3.0], [0.0, 0.0]), False: ([1000.5, 2e-7], [1e9, 2.0], [float("nan"), 1e-9]), None: ([1000.5, 2e-7], [0.5, 0.25], [1.0, 2.0])}
        for mode, texts in wanted.items():
            tandem.set_printoptions(sci_mode=mode)
            for value, text in zip(values[mode], texts):
                self.assertEqual(repr(tandem.tensor(value)), text)

    def test_formats(self):
        for device in DEVICES:
            loss, count = tandem.tensor(2.5, device=device), tandem.tensor(3, device=device)
            self.assertEqual((f"{loss}", f"{loss:.2f}", f"{count:04d}", "%.1f" % loss, "%d" % count), ("2.5", "2.50", "0003", "2.5", "3"))
        self.assertEqual(f"{tandem.tensor([1.0])}", "tensor([1.])")
        self.refuses(TypeError, "unsupported format string passed to", format, tandem.ones(2), ".2f")


class Indexing(Case):
    def setUp(self):
        self.x = tandem.arange(6).reshape(2, 3)

    def test_views(self):
        for device in DEVICES:
            x = self.x.clone().to(device)
            for key, values in (
                (0, [0, 1, 2]),
                (-1, [3, 4, 5]),
                ((0, 1), 1),
                ((1, -1), 5),
                (slice(1, None), [[3, 4, 5]]),
                ((slice(None), 1), [1, 4]),
                ((Ellipsis, 0), [0, 3]),
                ((Ellipsis, Ellipsis, 0), [0, 3]),
                ((Ellipsis, 0, Ellipsis), [0, 3]),
                ((0, Ellipsis), [0, 1, 2]),
                (None, [[[0, 1, 2], [3, 4, 5]]]),
                ((slice(None), slice(None, None, 2)), [[0, 2], [3, 5]]),
                (slice(5, 9), []),
                ((), [[0, 1, 2], [3, 4, 5]]),
                (slice(-(2**70), 2**70), [[0, 1, 2], [3, 4, 5]]),
                (tandem.tensor(1), [3, 4, 5]),
            ):
                self.same(x[key], values)
            row = x[0]
            row[0] = 9
            self.assertEqual(x[0, 0].item(), 9)

    def test_copies(self):
        for device in DEVICES:
            x = self.x.to(device)
            mask = tandem.tensor([[True, False, True], [False, False, True]], device=device)
            for key, values in (
                ([1, 0], [[3, 4, 5], [0, 1, 2]]),
                (([0, 1], [1, 2]), [1, 5]),
                (mask, [0, 2, 5]),
                (x > 3, [4, 5]),
                (True, [[[0, 1, 2], [3, 4, 5]]]),
                (tandem.tensor([1, 1], device=device), [[3, 4, 5], [3, 4, 5]]),
                ((slice(None), tandem.tensor([2, 0], device=device)), [[2, 0], [5, 3]]),
                ([True, False], [[0, 1, 2]]),
                ((tandem.tensor([0, 1], device=device), None), [[[0, 1, 2]], [[3, 4, 5]]]),
                ([], []),
                (range(1), [[0, 1, 2]]),
                ([slice(0, 1), 2], [2]),
                ([[0], [1]], [1]),
            ):
                self.same(x[key], values)

    def test_assignment(self):
        for device in DEVICES:

            def after(key, value):
                x = self.x.clone().to(device)
                x[key] = value.to(device) if isinstance(value, tandem.Tensor) else value
                return x.tolist()

            self.assertEqual(after(0, 7), [[7, 7, 7], [3, 4, 5]])
            self.assertEqual(after((0, 1), 7.9), [[0, 7, 2], [3, 4, 5]])
            self.assertEqual(after((slice(None), 1), tandem.tensor([8, 9])), [[0, 8, 2], [3, 9, 5]])
            self.assertEqual(after([0, 1], True), [[1, 1, 1], [1, 1, 1]])
            self.assertEqual(after(Ellipsis, [7, 8, 9]), [[7, 8, 9], [7, 8, 9]])
            self.assertEqual(after(tandem.tensor([[True, False, False], [False, True, False]]).to(device), -1), [[-1, 1, 2], [3, -1, 5]])
            self.assertEqual(after(([0, 1], [0, 0]), tandem.tensor([5, 6])), [[5, 1, 2], [6, 4, 5]])
            x = self.x.clone().to(device)
            x[0] += 10
            x[:, 1] *= 2
            self.assertEqual(x.tolist(), [[10, 22, 12], [3, 8, 5]])

    def test_what_is_refused(self):
        x = self.x
        self.refuses(IndexError, "index 2 is out of bounds for dimension 0 with size 2", x.__getitem__, 2)
        self.refuses(IndexError, "index -3 is out of bounds for dimension 0 with size 2", x.__getitem__, -3)
        self.refuses(IndexError, "too many indices for tensor of dimension 2", x.__getitem__, (0, 0, 0))
        self.refuses(ValueError, "step must be greater than zero", x.__getitem__, slice(None, None, -1))
        self.refuses(
            IndexError,
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got float)",
            x.__getitem__,
            1.5,
        )
        self.refuses(IndexError, "tensors used as indices must be long, int, byte or bool tensors", x.__getitem__, tandem.tensor([0.5]))
        self.refuses(
            IndexError,
            "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [2, 3] at index 0",
            x.__getitem__,
            tandem.tensor([True, False, True]),
        )
        self.refuses(IndexError, "invalid index of a 0-dim tensor", tandem.tensor(1).__getitem__, 0)
        self.refuses(ValueError, "Overflow when unpacking long long", x.__getitem__, 2**63)
        self.refuses(
            TypeError,
            "only integer tensors of a single element can be converted to an index",
            x.__getitem__,
            slice(tandem.tensor(0.5), None),
        )
        self.refuses(TypeError, "Tensor does not support deleting items", x.__delitem__, 0)
        self.refuses(TypeError, "can't assign a NoneType to a", x.__setitem__, 0, None)
        self.refuses(TypeError, "can't assign a str to a", x.__setitem__, 0, "a")
        with self.assertRaises(RuntimeError):
            x[0] = tandem.ones(2)

    def test_iteration(self):
        self.assertEqual([row.tolist() for row in self.x], [[0, 1, 2], [3, 4, 5]])
        self.assertEqual([part.tolist() for part in reversed(self.x)], [[3, 4, 5], [0, 1, 2]])
        first, second = self.x
        self.same(second, [3, 4, 5])
        self.assertEqual(dict(zip("ab", tandem.tensor([1, 2]).tolist())), {"a": 1, "b": 2})
        self.refuses(TypeError, "iteration over a 0-d tensor", iter, tandem.tensor(1))
        self.assertIn(4, self.x)
        self.assertNotIn(9, self.x)
        self.refuses(RuntimeError, "Tensor.__contains__ only supports Tensor or scalar, but you passed in a str.", self.x.__contains__, "a")


class Computing(Case):
    def test_operators_with_numbers(self):
        for device in DEVICES:
            x = tandem.tensor([2.0, -3.0], device=device)
            for result, values in (
                (x + 1, [3, -2]),
                (1 + x, [3, -2]),
                (x - 1, [1, -4]),
                (1 - x, [-1, 4]),
                (x * 2, [4, -6]),
                (2 * x, [4, -6]),
                (x / 2, [1, -1.5]),
                (6 / x, [3, -2]),
                (x // 2, [1, -2]),
                (7 // x, [3, -3]),
                (x % 2, [0, 1]),
                (7 % x, [1, -2]),
                (x**2, [4, 9]),
                (2**x, [4, 0.125]),
                (-x, [-2, 3]),
                (+x, [2, -3]),
                (abs(x), [2, 3]),
                (x > 0, [True, False]),
                (0 > x, [False, True]),
                (x == 2, [True, False]),
                (2 != x, [False, True]),
                (x <= -3, [False, True]),
            ):
                self.assertEqual(result.tolist(), values)
            i = tandem.tensor([6, 3], device=device)
            for result, values in (
                (i & 2, [2, 2]),
                (1 | i, [7, 3]),
                (i ^ 1, [7, 2]),
                (~i, [-7, -4]),
                (i << 1, [12, 6]),
                (i >> 1, [3, 1]),
                (1 << i, [64, 8]),
                (i // 4, [1, 0]),
                (i % 4, [2, 3]),
                (-i // 4, [-2, -1]),
            ):
                self.assertEqual(result.tolist(), values)
            self.same(tandem.tensor([[1.0, 2.0]], device=device) @ tandem.tensor([[3.0], [4.0]], device=device), [[11.0]])

    def test_in_place(self):
        for device in DEVICES:
            x = tandem.tensor([2.0, -3.0], device=device)
            before, address = x, x.data_ptr()
            x += 1
            x *= tandem.tensor([2.0, 2.0], device=device)
            x -= 2
            x /= 2
            x **= 2
            x //= 2
            x %= 3
            self.assertIs(x, before)
            self.assertEqual(x.data_ptr(), address)
            self.same(x, [2.0, 1.0])
            self.assertIs(x.add_(1).mul_(2), x)
            self.same(x, [6.0, 4.0])
        i = tandem.tensor([1, 2])
        self.refuses(RuntimeError, "result type Float can't be cast to the desired output type Long", i.__iadd__, 1.5)

    def test_what_is_no_operand(self):
        x = tandem.ones(2)
        for other in (None, "a", [1, 2], object()):
            with self.assertRaises(TypeError):
                x + other
            with self.assertRaises(TypeError):
                other - x
            self.assertIs(x == other, False)
            self.assertIs(x != other, True)
        with self.assertRaises(TypeError):
            x < "a"
        with self.assertRaises(TypeError):
            pow(x, 2, 3)

        class Mine:
            def __radd__(self, other):
                return "mine"

            def __eq__(self, other):
                return "equal"

        self.assertEqual(x + Mine(), "mine")
        self.assertEqual(x == Mine(), "equal")

    def test_numbers_of_python(self):
        for device in DEVICES:
            self.assertEqual(
                (int(tandem.tensor(2.9, device=device)), float(tandem.tensor(3, device=device)), bool(tandem.tensor([0.0], device=device))),
                (2, 3.0, False),
            )
            self.assertEqual([10, 20, 30][tandem.tensor(1, device=device)], 20)
        self.assertEqual((range(tandem.tensor(3)), math.sqrt(tandem.tensor(9.0)), "ab" * tandem.tensor(2)), (range(3), 3.0, "abab"))
        self.assertEqual((tandem.tensor([1.5]).item(), tandem.tensor([[True]]).item()), (1.5, True))
        self.refuses(RuntimeError, "Boolean value of Tensor with more than one value is ambiguous", bool, tandem.ones(2))
        self.refuses(RuntimeError, "Boolean value of Tensor with no values is ambiguous", bool, tandem.ones(0))
        self.refuses(RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar", tandem.ones(2).item)
        self.refuses(TypeError, "only integer tensors of a single element can be converted to an index", range, tandem.tensor(1.5))
        self.refuses(ValueError, "cannot convert float NaN to integer", int, tandem.tensor(NAN))

    def test_names_of_keywords(self):
        x = tandem.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.same(x.sum(axis=0), [4.0, 6.0])
        self.same(x.sum(dim=1, keepdims=True), [[3.0], [7.0]])
        self.same(tandem.sum(input=x, dim=(0, 1)), 10.0)
        self.same(x.mean(axis=(0, 1)), 2.5)
        self.same(tandem.cat([x, x], axis=1)[0], [1.0, 2.0, 1.0, 2.0])
        self.same(x.max(dim=0).values, [3.0, 4.0])
        values, indices = x.max(1)
        self.same(indices, [1, 1])
        self.same(tandem.add(input=x, other=1, alpha=2)[0], [3.0, 4.0])
        self.same(x.transpose(dim0=0, dim1=1)[0], [1.0, 3.0])
        self.same(tandem.clamp(x, min=2, max=3), [[2.0, 2.0], [3.0, 3.0]])
        self.same(x.reshape(4), x.reshape((4,)).tolist())
        self.same(x.permute(1, 0), x.permute((1, 0)).tolist())
        self.assertEqual(tandem.max(x, x * 0).tolist(), x.tolist())
        key = "".join(["d", "im"])  # no object that the compiler has interned
        self.same(x.sum(**{key: 0}), [4.0, 6.0])

    def test_slices_changed_in_place(self):
        for device in DEVICES:
            x = tandem.ones(1, 3, device=device)
            x[:] -= 1
            x[0] += 2
            x[:1] *= 3
            x[:, :1] -= 1
            self.same(x, [[5.0, 6.0, 6.0]])
            y = tandem.ones(3, device=device)
            y[:1] += 1
            y[-1:] /= 2
            self.same(y, [2.0, 1.0, 0.5])
            w = nn.Parameter(tandem.ones(1, 1, 1, 2, device=device))
            w.data[:] -= 0.5
            w.data[0] -= 0.25
            self.same(w.detach(), [[[[0.25, 0.25]]]])

    def test_errors_of_calls(self):
        x = tandem.ones(2, 3)
        self.refuses(TypeError, "abs(): argument 'input' (position 1) must be Tensor, not int", tandem.abs, 3)
        self.refuses(TypeError, "sum(): argument 'input' (position 1) must be Tensor, not str", tandem.sum, "a")
        self.refuses(TypeError, "nonzero(): argument 'input' (position 1) must be Tensor, not", tandem.nonzero, None)
        self.refuses(TypeError, "numel(): argument 'input' (position 1) must be Tensor, not int", tandem.numel, 3)
        self.refuses(TypeError, 'cumsum() missing 1 required positional arguments: "dim"', x.cumsum)
        self.refuses(TypeError, "argmax() takes from 1 to 3 positional arguments but 5 were given", tandem.argmax, x, 1, True, 3, 4)
        self.refuses(TypeError, "exp() got an unexpected keyword argument 'foo'", tandem.exp, x, foo=1)
        self.refuses(TypeError, "exp() got multiple values for argument 'input'", tandem.exp, x, input=x)
        self.refuses(
            RuntimeError,
            "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
            lambda: x + tandem.ones(2),
        )
        self.refuses(RuntimeError, "shape '[4]' is invalid for input of size 6", x.reshape, 4)
        self.refuses(IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)", x.sum, 2)
        self.refuses(TypeError, "expected Tensor as element 1 in argument 0, but got int", tandem.cat, [x, 1])
        self.refuses(AttributeError, "module 'tandem' has no attribute 'no_such_thing'", getattr, tandem, "no_such_thing")
        with self.assertRaises(AttributeError):
            x.no_such_thing

    def test_an_error_of_an_argument_comes_through(self):
        class Broken:
            def __index__(self):
                raise KeyError("index")

        with self.assertRaises(KeyError):
            tandem.zeros(Broken())
        with self.assertRaises(KeyError):
            tandem.ones(3)[Broken()]
        with self.assertRaises(KeyError):
            tandem.ones(3).sum(Broken())

    def test_views_and_moves(self):
        x = tandem.arange(6)
        self.same(x.view(2, 3), [[0, 1, 2], [3, 4, 5]])
        self.same(x.view(-1, 2)[2], [4, 5])
        self.assertIs(x.to(tandem.int64), x)
        self.assertIs(x.cpu(), x)
        self.assertIs(x.long(), x)
        self.assertIsNot(x.to(tandem.int64, copy=True), x)
        self.same(x.to(float)[:1], [0.0], tandem.float64)
        self.same(x.type(tandem.float16)[:1], [0.0], tandem.float16)
        self.assertEqual((x.type(), x.float().type()), ("torch.LongTensor", "torch.FloatTensor"))
        for device in DEVICES[1:]:
            there = x.to(device)
            self.assertIs(there.to(device), there)
            self.assertIs(there.cuda(), there)
            self.assertEqual(there.to("cpu", tandem.float32).tolist(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
            self.assertEqual(tandem.ones(1).to(there).dtype, tandem.int64)
            self.refuses(
                RuntimeError,
                "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
                lambda: there + x,
            )


class Subclasses(Case):
    def test_results_are_plain(self):
        class Named(tandem.Tensor):
            pass

        x = tandem.Tensor._make_subclass(Named, tandem.ones(2))
        x.name_of_mine = "a"
        self.assertIsInstance(x, Named)
        self.assertEqual((x.name_of_mine, x.tolist()), ("a", [1.0, 1.0]))
        self.same(x + 1, [2.0, 2.0])

    def test_classes_that_keep_their_subclasses_to_themselves(self):
        class Base(tandem.Tensor):
            def __init_subclass__(cls):
                cls.seen = True

        class Below(Base):
            __slots__ = ("extra",)

        for _ in range(200):
            x = tandem.Tensor._make_subclass(Below, tandem.ones(2))
            x.extra = [1]
            x.other = x
            held = tandem.nn.Parameter(x)
            del x, held
        gc.collect()
        self.assertTrue(Below.seen)

    def test_parameters(self):
        p = tandem.nn.Parameter(tandem.ones(2))
        self.assertEqual((type(p * 2), type(p.data), type(p.detach())), (tandem.Tensor,) * 3)
        self.assertTrue(p.requires_grad and p.is_leaf)


if __name__ == "__main__":
    unittest.main()
