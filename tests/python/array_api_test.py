"""tandem.array_api, the array API standard's names over tensors: where it differs from PyTorch, by hand, on the CPU and on a GPU."""

import array
import math
import unittest

import tandem
from tandem import array_api as xp

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])
inf, nan = math.inf, math.nan


def on_each_device(test):
    def run(self):
        for device in DEVICES:
            with self.subTest(device):
                tandem.set_default_device(device)
                try:
                    test(self)
                finally:
                    tandem.set_default_device(None)

    return run


class Namespace(unittest.TestCase):
    def test_arrays_name_it(self):
        x = xp.ones(3)
        self.assertIs(x.__array_namespace__(), xp)
        self.assertIs(x.__array_namespace__(api_version="2023.12"), xp)
        with self.assertRaisesRegex(ValueError, "1999.12 is not there"):
            x.__array_namespace__(api_version="1999.12")
        self.assertEqual(complex(xp.asarray(2.5)), 2.5 + 0j)
        self.assertIs(x.to_device(tandem.device("cpu")), x)
        with self.assertRaisesRegex(ValueError, "stream is not supported"):
            x.to_device("cpu", stream=1)

    def test_information(self):
        info = xp.__array_namespace_info__()
        self.assertEqual([str(d) for d in info.devices()][:2], ["cpu", "cuda:0"][:len(DEVICES)])
        self.assertEqual(info.default_dtypes()["integral"], tandem.int64)
        self.assertEqual(info.dtypes(kind="real floating"), {"float32": tandem.float32, "float64": tandem.float64})
        self.assertEqual(list(info.dtypes(kind=("bool", "unsigned integer"))), ["bool", "uint8"])
        self.assertEqual(info.dtypes(kind="complex floating"), {})
        self.assertEqual(len(info.dtypes()), 8)
        with self.assertRaisesRegex(ValueError, "unknown kind of dtype: 'decimal'"):
            info.dtypes(kind="decimal")


class Dtypes(unittest.TestCase):
    def test_promotion_does_not_look_at_dimensions(self):
        self.assertIs(xp.result_type(xp.asarray(1.0, dtype=xp.float64), xp.ones(2)), xp.float64)
        self.assertIs(xp.result_type(xp.uint8, xp.int8), xp.int16)
        self.assertIs(xp.result_type(xp.int8, 1000), xp.int8)
        self.assertIs(xp.result_type(xp.int8, 1.5), xp.float32)
        self.assertIs(xp.result_type(xp.bool, 1), xp.int64)
        self.assertIs(xp.add(xp.asarray(1, dtype=xp.int16), xp.ones(2, dtype=xp.int8)).dtype, xp.int16)
        self.assertIs(xp.add(1, xp.ones(2, dtype=xp.int8)).dtype, xp.int8)
        with self.assertRaises(ValueError):
            xp.result_type(1, 2.0)
        with self.assertRaises(TypeError):
            xp.add(1, 2)

    def test_facts_and_kinds(self):
        self.assertEqual(xp.finfo(xp.ones(1))[:5], (32, 2.0**-23, (2 - 2.0**-23) * 2.0**127, -(2 - 2.0**-23) * 2.0**127, 2.0**-126))
        self.assertIs(xp.finfo(xp.float64).dtype, xp.float64)
        self.assertEqual(xp.iinfo(xp.uint8), (8, 255, 0, xp.uint8))
        self.assertTrue(xp.isdtype(xp.int8, ("bool", "signed integer")))
        self.assertFalse(xp.isdtype(xp.uint8, "real floating"))
        self.assertTrue(xp.isdtype(xp.float32, xp.float32))
        self.assertTrue(xp.can_cast(xp.int8, xp.int32))
        self.assertFalse(xp.can_cast(xp.int32, xp.int8))

    def test_astype_copies(self):
        x = xp.ones(2)
        self.assertIsNot(xp.astype(x, xp.float32), x)
        self.assertIs(xp.astype(x, xp.float32, copy=False), x)
        self.assertEqual(xp.astype(xp.asarray([0.0, -2.5]), xp.bool).tolist(), [False, True])


class Creation(unittest.TestCase):
    @on_each_device
    def test_numbers(self):
        self.assertEqual(xp.asarray(16777217.0, dtype=xp.float64).item(), 16777217.0)  # float32 has no such number
        self.assertEqual(xp.arange(5, 0).tolist(), [])
        self.assertIs(xp.arange(1.0, 0).dtype, xp.float32)
        self.assertEqual(xp.arange(3, -3, -2).tolist(), [3, 1, -1])
        self.assertEqual(xp.linspace(0, 1, 4, endpoint=False).tolist(), [0, 0.25, 0.5, 0.75])
        self.assertEqual(xp.eye(2, 3, k=1).tolist(), [[0, 1, 0], [0, 0, 1]])
        self.assertEqual(xp.eye(2, k=-5).tolist(), [[0, 0], [0, 0]])
        self.assertEqual(xp.full(2, True).tolist(), [True, True])
        self.assertEqual(xp.tril(xp.ones((2, 3)), k=1).tolist(), [[1, 1, 0], [1, 1, 1]])
        columns, rows = xp.meshgrid(xp.asarray([1, 2]), xp.asarray([3, 4, 5]))
        self.assertEqual((columns.tolist(), rows.tolist()), ([[1, 2]] * 3, [[3, 3], [4, 4], [5, 5]]))

    def test_copies(self):
        x = xp.ones(2)
        self.assertIs(xp.asarray(x), x)
        self.assertIs(xp.asarray(x, copy=False), x)
        self.assertNotEqual(xp.asarray(x, copy=True).data_ptr(), x.data_ptr())
        self.assertEqual(xp.from_dlpack(x).data_ptr(), x.data_ptr())
        self.assertNotEqual(xp.from_dlpack(x, copy=True).data_ptr(), x.data_ptr())
        self.assertEqual(xp.asarray(array.array("d", [1, 2])).tolist(), [1, 2])
        with self.assertRaisesRegex(ValueError, "another dtype or device needs a copy"):
            xp.asarray(x, dtype=xp.int8, copy=False)
        with self.assertRaisesRegex(ValueError, "leave out copy=False"):
            xp.asarray([1, 2], copy=False)


class Elements(unittest.TestCase):
    @on_each_device
    def test_division_by_the_standard(self):
        x, y = xp.asarray([5.0, -5.0, inf, -inf, 7.0, 1.0]), xp.asarray([inf, inf, 2.0, 2.0, -2.0, 0.1])
        self.assertEqual(xp.floor_divide(x, y).tolist(), [0, 0, inf, -inf, -4, 9])
        self.assertEqual(math.copysign(1, xp.floor_divide(x, y)[1].item()), -1)
        self.assertEqual(xp.floor_divide(xp.asarray([7, -7]), 2).tolist(), [3, -4])
        zeros = xp.remainder(xp.asarray([0.0, -0.0, 4.0]), xp.asarray([-3.0, 3.0, -2.0])).tolist()
        self.assertEqual([math.copysign(1, zero) for zero in zeros], [-1, 1, -1])
        self.assertEqual(xp.remainder(xp.asarray([7, -7]), 3).tolist(), [1, 2])

    @on_each_device
    def test_sign_and_clip(self):
        self.assertTrue(math.isnan(xp.sign(xp.asarray(nan)).item()))
        self.assertEqual(xp.sign(xp.asarray([-2.0, 0.0, 3.0])).tolist(), [-1, 0, 1])
        x = xp.asarray([1, 5, 9], dtype=xp.uint8)
        self.assertEqual(xp.clip(x, -3, 6).tolist(), [1, 5, 6])
        self.assertIs(xp.clip(x, 2, 300).dtype, xp.uint8)
        self.assertEqual(xp.clip(x, 2, 300).tolist(), [2, 5, 9])
        self.assertEqual(xp.clip(x, max=xp.asarray([[4], [6]])).tolist(), [[1, 4, 4], [1, 5, 6]])
        self.assertIsNot(xp.clip(x), x)

    @on_each_device
    def test_numbers_on_either_side(self):
        x = xp.asarray([1.0, 4.0])
        self.assertEqual(xp.subtract(5, x).tolist(), [4, 1])
        self.assertEqual(xp.less(2, x).tolist(), [False, True])
        self.assertEqual(xp.logical_and(True, xp.asarray([True, False])).tolist(), [True, False])
        self.assertEqual(xp.atan2(0.0, x).tolist(), [0, 0])
        self.assertEqual(xp.bitwise_invert(xp.asarray([0, 5])).tolist(), [-1, -6])
        self.assertEqual(xp.nextafter(x, 0.0).tolist(), [1 - 2.0**-24, 4 - 2.0**-22])


class Shapes(unittest.TestCase):
    @on_each_device
    def test_shapes(self):
        x = xp.reshape(xp.arange(6), (2, 3))
        self.assertEqual(tuple(xp.expand_dims(x, (0, -1)).shape), (1, 2, 3, 1))
        self.assertEqual(tuple(xp.expand_dims(x, 1).shape), (2, 1, 3))
        self.assertEqual(tuple(xp.squeeze(xp.ones((1, 2, 1)), (0, 2)).shape), (2,))
        with self.assertRaisesRegex(ValueError, "axis 1 has size 2, not 1"):
            xp.squeeze(xp.ones((1, 2)), 1)
        self.assertEqual(xp.permute_dims(x, (1, 0)).tolist(), [[0, 3], [1, 4], [2, 5]])
        self.assertEqual(xp.matrix_transpose(x).tolist(), [[0, 3], [1, 4], [2, 5]])
        self.assertEqual(xp.flip(x, axis=-1).tolist(), [[2, 1, 0], [5, 4, 3]])
        self.assertEqual(xp.flip(x).tolist(), [[5, 4, 3], [2, 1, 0]])
        self.assertEqual(xp.roll(x, 1, axis=(0, 1)).tolist(), [[5, 3, 4], [2, 0, 1]])
        self.assertEqual([part.tolist() for part in xp.unstack(x, axis=1)], [[0, 3], [1, 4], [2, 5]])
        self.assertEqual(xp.concat([x, xp.asarray([0.5])], axis=None).tolist(), [0, 1, 2, 3, 4, 5, 0.5])
        self.assertEqual(xp.repeat(xp.asarray([7, 8]), xp.asarray([0, 2])).tolist(), [8, 8])
        self.assertEqual(xp.repeat(xp.asarray([7, 8]), 2).tolist(), [7, 7, 8, 8])

    def test_broadcasting(self):
        self.assertEqual(xp.broadcast_shapes((2, 1), (3,)), (2, 3))
        with self.assertRaises(ValueError):
            xp.broadcast_shapes((2,), (3,))
        a, b = xp.broadcast_arrays(xp.ones((2, 1)), xp.zeros(3))
        self.assertEqual((tuple(a.shape), tuple(b.shape)), ((2, 3), (2, 3)))

    def test_reshape_copies(self):
        x = xp.ones((2, 3))
        self.assertEqual(xp.reshape(x, (6,), copy=False).data_ptr(), x.data_ptr())
        self.assertNotEqual(xp.reshape(x, (6,), copy=True).data_ptr(), x.data_ptr())
        with self.assertRaisesRegex(ValueError, "this shape needs a copy"):
            xp.reshape(x.mT, (6,), copy=False)

    @on_each_device
    def test_taking(self):
        x = xp.reshape(xp.arange(6), (2, 3))
        self.assertEqual(xp.take(x, xp.asarray([[2, -1], [0, -3]], dtype=xp.int32), axis=1).tolist(), [[[2, 2], [0, 0]], [[5, 5], [3, 3]]])
        self.assertEqual(xp.take(xp.asarray([5, 6]), xp.asarray([1])).tolist(), [6])
        with self.assertRaisesRegex(ValueError, "axis has to be given"):
            xp.take(x, xp.asarray([1]))
        self.assertEqual(xp.take_along_axis(x, xp.asarray([[2, -3], [0, -1]]), axis=-1).tolist(), [[2, 0], [3, 5]])


class Reductions(unittest.TestCase):
    @on_each_device
    def test_axes(self):
        x = xp.reshape(xp.arange(6, dtype=xp.float64), (2, 3))
        self.assertEqual(xp.sum(x).item(), 15)
        self.assertEqual(xp.sum(x, axis=()).tolist(), x.tolist())
        self.assertEqual(xp.max(x, axis=(0, 1), keepdims=True).tolist(), [[5]])
        self.assertEqual(xp.min(x, axis=0).tolist(), [0, 1, 2])
        self.assertEqual(xp.prod(x + 1, axis=(0, -1)).item(), 720)
        self.assertEqual(xp.prod(xp.asarray([2, 3], dtype=xp.int8), dtype=xp.int8).dtype, xp.int8)
        self.assertEqual(xp.sum(xp.asarray([200, 100], dtype=xp.uint8)).item(), 300)
        self.assertEqual(xp.sum(xp.asarray([200, 100], dtype=xp.uint8), dtype=xp.uint8).item(), 44)
        self.assertEqual(xp.var(x, axis=1).tolist(), [2 / 3, 2 / 3])
        self.assertEqual(xp.var(x, correction=1.5).item(), 17.5 / 4.5)
        self.assertAlmostEqual(xp.std(x).item(), math.sqrt(17.5 / 6))
        self.assertTrue(math.isnan(xp.var(xp.asarray(nan)).item()))
        self.assertEqual(xp.count_nonzero(x, axis=0).tolist(), [1, 2, 2])
        any_of = xp.any(xp.asarray([[0, 2], [0, 0]], dtype=xp.uint8), axis=1)
        self.assertEqual((any_of.tolist(), any_of.dtype), ([True, False], xp.bool))
        self.assertEqual(xp.all(x, axis=(0,)).tolist(), [False, True, True])

    @on_each_device
    def test_cumulative(self):
        x = xp.asarray([1, 2, 3], dtype=xp.int8)
        self.assertEqual(xp.cumulative_sum(x, include_initial=True).tolist(), [0, 1, 3, 6])
        self.assertIs(xp.cumulative_sum(x).dtype, xp.int64)
        self.assertEqual(xp.cumulative_prod(xp.reshape(x, (1, 3)), axis=1, include_initial=True).tolist(), [[1, 1, 2, 6]])
        with self.assertRaisesRegex(ValueError, "axis has to be given"):
            xp.cumulative_sum(xp.ones((2, 2)))
        self.assertEqual(xp.diff(xp.asarray([1, 4, 9]), prepend=xp.asarray([0])).tolist(), [1, 3, 5])


class Order(unittest.TestCase):
    @on_each_device
    def test_unique(self):
        found = xp.unique_all(xp.asarray([[3, 1], [3, 2]]))
        self.assertEqual([part.tolist() for part in found], [[1, 2, 3], [1, 3, 0], [[2, 0], [2, 1]], [1, 1, 2]])
        nans = xp.unique_counts(xp.asarray([nan, 1.0, nan]))
        self.assertEqual((tuple(nans.values.shape), nans.counts.tolist()), ((3,), [1, 1, 1]))
        self.assertEqual(tuple(xp.unique_inverse(xp.ones((0, 2))).inverse_indices.shape), (0, 2))
        self.assertEqual(xp.unique_values(xp.asarray([True, False, True])).tolist(), [False, True])

    @on_each_device
    def test_searching(self):
        self.assertEqual(xp.argsort(xp.asarray([2, 3, 2]), descending=True).tolist(), [1, 0, 2])
        self.assertEqual(xp.searchsorted(xp.asarray([3, 1, 2]), 2, sorter=xp.asarray([1, 2, 0])).item(), 1)
        self.assertEqual(xp.where(xp.asarray([True, False]), 1, xp.asarray([7.5, 8.5])).tolist(), [1, 8.5])
        self.assertEqual(xp.isin(xp.asarray([1, 2]), 2, invert=True).tolist(), [True, False])
        self.assertEqual([part.tolist() for part in xp.nonzero(xp.asarray([[0, 1], [2, 0]]))], [[0, 1], [1, 0]])
        with self.assertRaisesRegex(ValueError, "without dimensions"):
            xp.nonzero(xp.asarray(1))


class LinearAlgebra(unittest.TestCase):
    @on_each_device
    def test_products(self):
        a, b = xp.asarray([1, 2, 3]), xp.asarray([4.0, 5.0, 6.0])
        self.assertEqual(xp.vecdot(a, b).item(), 32)
        self.assertEqual(xp.linalg.cross(a, b).tolist(), [-3, 6, -3])
        self.assertEqual(xp.linalg.outer(a[:2], b[:2]).tolist(), [[4, 5], [8, 10]])
        self.assertEqual(xp.matmul(a, b).item(), 32)
        self.assertEqual(xp.tensordot(a, b, axes=0).tolist(), [[4, 5, 6], [8, 10, 12], [12, 15, 18]])
        with self.assertRaisesRegex(ValueError, "3 and 2 elements"):
            xp.vecdot(a, b[:2])

    @on_each_device
    def test_matrices(self):
        x = xp.reshape(xp.arange(12, dtype=xp.float64), (2, 2, 3))
        self.assertEqual(xp.linalg.trace(x, offset=1).tolist(), [6, 18])
        self.assertEqual(tuple(xp.linalg.diagonal(x, offset=7).shape), (2, 0))
        matrix = xp.asarray([[2.0, 0.0], [0.0, 4.0]])
        self.assertEqual(xp.linalg.solve(matrix, xp.asarray([[2.0, 4.0], [4.0, 8.0]])).tolist(), [[1, 2], [1, 2]])
        self.assertEqual(xp.linalg.solve(matrix, xp.asarray([2.0, 4.0])).tolist(), [1, 1])
        self.assertEqual(xp.linalg.vector_norm(xp.asarray([[3.0, 4.0]]), keepdims=True).tolist(), [[5]])
        self.assertEqual(xp.linalg.matrix_norm(xp.asarray([[3.0, 0.0], [0.0, 4.0]])).item(), 5)


class Gradients(unittest.TestCase):
    def test_flow_through(self):
        x = xp.asarray([1.0, 4.0], dtype=xp.float64).requires_grad_()
        xp.sum(xp.multiply(xp.take(x, xp.asarray([1, 1])), 3) + xp.clip(x, 2, 5)).backward()
        self.assertEqual(x.grad.tolist(), [0, 7])


if __name__ == "__main__":
    unittest.main()
