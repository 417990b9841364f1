"""Tensors that leave and come back: pickles and copies, NumPy, the buffer protocol, DLPack."""

import copy
import ctypes
import gc
import pickle
import unittest
import warnings
import weakref

import tandem

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


class Own(tandem.Tensor):
    """A class of the user's."""


class Copies(Case):
    def test_pickle(self):
        for device in DEVICES:
            for dtype in FLOATING + WHOLE + [tandem.bool]:
                x = tandem.tensor([[1, 0], [3, 1]], device=device).to(dtype).t()
                back = pickle.loads(pickle.dumps(x))
                self.assertEqual((back.tolist(), back.dtype, back.device), (x.tolist(), x.dtype, x.device))
        leaf = tandem.tensor([1.0], requires_grad=True)
        self.assertTrue(pickle.loads(pickle.dumps(leaf)).requires_grad)
        self.assertEqual(pickle.loads(pickle.dumps(tandem.zeros(2, 0, 3))).shape, (2, 0, 3))
        whole = tandem.randn(1000).to(tandem.bfloat16)
        self.assertTrue(tandem.equal(pickle.loads(pickle.dumps(whole)), whole))
        parameter = tandem.nn.Parameter(tandem.tensor([1.0]), requires_grad=False)
        parameter.note = "kept"
        back = pickle.loads(pickle.dumps(parameter))
        self.assertIs(type(back), tandem.nn.Parameter)
        self.assertEqual((back.requires_grad, back.note), (False, "kept"))

    def test_pickled_leaves(self):
        for device in DEVICES:
            leaf = tandem.tensor([[1.0, 2.0]], device=device, requires_grad=True)
            back = pickle.loads(pickle.dumps(leaf))
            self.assertEqual((back.is_leaf, back.requires_grad, back._base, back.device), (True, True, None, leaf.device))
            (back * back).sum().backward()
            self.assertEqual(back.grad.tolist(), [[2.0, 4.0]])

    def test_copy(self):
        for device in DEVICES:
            x = tandem.tensor([[1.0, 2.0], [3.0, 4.0]], device=device).t()
            x.note = "kept"
            twin = copy.copy(x)
            self.assertIsNot(twin, x)
            self.assertEqual((twin.stride(), twin.device, twin.note), ((1, 2), x.device, "kept"))
            twin[0, 1] = 7
            self.assertEqual(x.tolist(), [[1.0, 7.0], [2.0, 4.0]])
            leaf = tandem.ones(2, device=device, requires_grad=True)
            twin = copy.copy(leaf)
            self.assertEqual((twin.requires_grad, twin.is_leaf, twin._base), (True, True, None))
            result = copy.copy(leaf * 2)
            self.assertEqual((result.requires_grad, result.is_leaf, result.grad_fn), (True, True, None))
            twin.sum().backward()
            self.assertEqual((twin.grad.tolist(), leaf.grad), ([1.0, 1.0], None))

    def test_copy_of_classes(self):
        parameter = tandem.nn.Parameter(tandem.ones(2), requires_grad=False)
        parameter.note = "kept"
        twin = copy.copy(parameter)
        self.assertEqual((type(twin), twin.requires_grad, twin.note), (tandem.nn.Parameter, False, "kept"))
        self.assertEqual(twin.data_ptr(), parameter.data_ptr())
        own = tandem.ones(2).as_subclass(Own)
        twin = copy.copy(own)
        self.assertEqual((type(twin), twin.data_ptr()), (Own, own.data_ptr()))
        lazy = copy.copy(tandem.nn.UninitializedParameter())
        self.assertIs(type(lazy), tandem.nn.UninitializedParameter)

    def test_asarray_of_tensors(self):
        for device in DEVICES:
            leaf = tandem.ones(2, device=device, requires_grad=True)
            result = leaf * 2
            self.assertIs(tandem.asarray(leaf), leaf)
            self.assertIs(tandem.asarray(result), result)
            self.assertIsNotNone(tandem.asarray(leaf, copy=True).grad_fn)
            self.assertIsNone(tandem.asarray(result, requires_grad=False).grad_fn)
            plain = tandem.ones(2, device=device)
            self.assertIs(tandem.asarray(plain, requires_grad=True), plain)
            self.assertTrue(plain.requires_grad)
            self.refuses(ValueError, "can't alias tensor with dtype", tandem.asarray, plain, dtype=tandem.float64, copy=False)
            if device != "cpu":
                self.refuses(ValueError, "can't alias tensor from device", tandem.asarray, plain, device="cpu", copy=False)

    def test_deepcopy(self):
        for device in DEVICES:
            x = tandem.tensor([1.0, 2.0], device=device, requires_grad=True)
            (x * x).sum().backward()
            x.note = ["a"]
            twin = copy.deepcopy(x)
            self.assertEqual(
                (twin.tolist(), twin.grad.tolist(), twin.note, twin.device, twin.requires_grad),
                ([1.0, 2.0], [2.0, 4.0], ["a"], x.device, True),
            )
            self.assertIsNot(twin.note, x.note)
            self.assertIsNot(twin.grad, x.grad)
            with tandem.no_grad():
                twin.add_(1)
            self.same(x, [1.0, 2.0])
        a = tandem.ones(1)
        first, second = copy.deepcopy([a, a])
        self.assertIs(first, second)
        self.refuses(RuntimeError, "Only Tensors created explicitly by the user", copy.deepcopy, tandem.ones(1, requires_grad=True) * 2)
        self.same(copy.copy(a), [1.0])

    def test_clone_and_detach(self):
        x = tandem.tensor([1.0], requires_grad=True)
        shared = x.detach()
        shared[0] = 5
        self.assertEqual((x.item(), shared.requires_grad, x.clone().requires_grad), (5.0, False, True))
        self.assertEqual(x.data.data_ptr(), x.data_ptr())


class NumPy(Case):
    def test_from_numpy_shares(self):
        array = numpy.arange(6, dtype="float32").reshape(2, 3)
        x = tandem.from_numpy(array)
        array[0, 0] = 9
        x[1, 2] = 7
        self.assertEqual((x[0, 0].item(), array[1, 2]), (9.0, 7.0))
        turned = tandem.from_numpy(array.T)
        self.assertEqual((turned.shape, turned.stride()), ((3, 2), (1, 3)))
        self.same(tandem.from_numpy(array[:, ::2])[0], [9.0, 2.0])

    def test_dtypes(self):
        for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"):
            array = numpy.array([0, 1], dtype=name)
            x = tandem.from_numpy(array)
            self.assertIs(x.dtype, getattr(tandem, name))
            self.assertEqual((x.numpy().dtype, x.numpy().tolist()), (array.dtype, array.tolist()))
        self.assertIs(tandem.tensor(numpy.float64(2)).dtype, tandem.float64)
        self.assertIs(tandem.tensor([numpy.float32(1), numpy.float64(2)]).dtype, tandem.float64)
        self.assertIs(tandem.tensor([numpy.int32(1), numpy.int32(2)]).dtype, tandem.int32)
        self.same(tandem.tensor([numpy.array([1, 2]), numpy.array([3, 4])]), [[1, 2], [3, 4]], tandem.int64)
        self.same(tandem.tensor(numpy.array([1, 2], dtype="int16")), [1, 2], tandem.int16)
        with self.assertRaises(TypeError):
            tandem.from_numpy(numpy.array(["a"]))
        self.refuses(
            ValueError,
            "given numpy array has byte order different from the native byte order",
            tandem.from_numpy,
            numpy.array([1], dtype=">i4"),
        )
        self.refuses(ValueError, "At least one stride in the given numpy array is negative", tandem.from_numpy, numpy.arange(3)[::-1])
        self.refuses(TypeError, "expected np.ndarray (got list)", tandem.from_numpy, [1])
        self.refuses(TypeError, "expected np.ndarray (got numpy.float32)", tandem.from_numpy, numpy.float32(1))

    def test_to_numpy(self):
        x = tandem.tensor([[1.0, 2.0]])
        array = x.numpy()
        array[0, 0] = 5
        self.assertEqual(x[0, 0].item(), 5.0)
        self.assertEqual(
            (numpy.asarray(x).tolist(), numpy.array(x.t()).tolist(), tandem.tensor(3.5).numpy().shape), ([[5.0, 2.0]], [[5.0], [2.0]], ())
        )
        self.assertEqual(numpy.asarray(x, dtype="int64").tolist(), [[5, 2]])
        self.assertEqual(numpy.array([x, x]).tolist(), [[[5.0, 2.0]], [[5.0, 2.0]]])
        self.assertEqual(numpy.array([tandem.tensor(1), tandem.tensor(2)]).tolist(), [1, 2])
        leaf = tandem.ones(2, requires_grad=True)
        for call in (leaf.numpy, lambda: numpy.asarray(leaf), lambda: numpy.array(leaf)):
            self.refuses(RuntimeError, "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.", call)
        self.assertEqual(leaf.numpy(force=True).tolist(), [1.0, 1.0])
        self.refuses(TypeError, "Got unsupported ScalarType BFloat16", tandem.ones(1, dtype=tandem.bfloat16).numpy)
        for device in DEVICES[1:]:
            self.refuses(
                TypeError,
                "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
                x.to(device).numpy,
            )

    def test_operators(self):
        for device in DEVICES:
            x = tandem.tensor([1.0, 2.0], device=device)
            self.same(x * numpy.float64(2), [2.0, 4.0], tandem.float32)
            self.same(numpy.float32(2) * x if device == "cpu" else x * numpy.float32(2), [2.0, 4.0])
            self.same(x + numpy.int64(1), [2.0, 3.0], tandem.float32)
            self.same(tandem.add(x, numpy.float32(1)), [2.0, 3.0])
        x = tandem.tensor([1.0, 2.0])
        self.assertEqual((x + numpy.array([1.0, 2.0])).tolist(), [2.0, 4.0])
        self.assertEqual(tandem.arange(4)[numpy.array([0, 2])].tolist(), [0, 2])
        self.assertEqual(tandem.arange(4)[numpy.int64(1)].item(), 1)
        self.assertEqual(tandem.arange(2)[numpy.array([True, False])].tolist(), [0])
        self.assertEqual((tandem.zeros(numpy.int64(2)).shape, tandem.ones(2, 3).sum(numpy.int64(0)).tolist()), ((2,), [2.0, 2.0, 2.0]))
        self.refuses(TypeError, "abs(): argument 'input' (position 1) must be Tensor, not numpy.ndarray", tandem.abs, numpy.ones(2))
        self.refuses(TypeError, "add(): argument 'other' (position 2) must be Tensor, not numpy.ndarray", tandem.add, x, numpy.ones(2))
        self.assertEqual(
            (float(numpy.sum(x.numpy())), numpy.sqrt(tandem.tensor([4.0])).tolist(), numpy.stack([x, x]).tolist()),
            (3.0, [2.0], [[1.0, 2.0], [1.0, 2.0]]),
        )

    def test_the_array_outlives_the_tensor(self):
        array = tandem.arange(5).numpy()
        gc.collect()
        tandem.zeros(5, dtype=tandem.int64).fill_(9)
        self.assertEqual(array.tolist(), [0, 1, 2, 3, 4])
        x = tandem.from_numpy(numpy.arange(5))
        gc.collect()
        numpy.full(5, 9)
        self.same(x, [0, 1, 2, 3, 4])

    def test_read_only(self):
        array = numpy.arange(3)
        array.flags.writeable = False
        with self.assertWarns(UserWarning):
            tandem.from_numpy(array)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.same(tandem.tensor(array), [0, 1, 2])


class Buffers(Case):
    def test_of_a_tensor(self):
        x = tandem.tensor([[1, 2], [3, 4]], dtype=tandem.int32)
        view = memoryview(x)
        self.assertEqual((view.format, view.shape, view.strides, view.tolist()), ("i", (2, 2), (8, 4), [[1, 2], [3, 4]]))
        self.assertEqual(memoryview(x.t()).tolist(), [[1, 3], [2, 4]])
        view[0, 1] = 9
        self.assertEqual(x[0, 1].item(), 9)
        del x
        self.assertEqual(view[1, 1], 4)
        self.assertEqual(bytes(tandem.tensor([1, 2], dtype=tandem.uint8)), b"\x01\x02")
        with self.assertRaises((BufferError, TypeError)):
            ctypes.c_char.from_buffer(tandem.ones(2, 2, dtype=tandem.int8).t())  # it wants memory without gaps
        for device in DEVICES[1:]:
            with self.assertRaises(TypeError):
                memoryview(tandem.ones(2, device=device))

    def test_frombuffer(self):
        data = bytearray(b"\x01\x00\x02\x00\x03\x00")
        x = tandem.frombuffer(data, dtype=tandem.int16)
        self.same(x, [1, 2, 3])
        data[0] = 7
        self.assertEqual(x[0].item(), 7)
        self.same(tandem.frombuffer(data, dtype=tandem.int16, count=1, offset=2), [2])
        self.refuses(ValueError, "both buffer length (0) and count (-1) must not be 0", tandem.frombuffer, bytearray(), dtype=tandem.int8)
        self.refuses(ValueError, "both buffer length (6) and count (0) must not be 0", tandem.frombuffer, data, dtype=tandem.int8, count=0)
        self.refuses(
            ValueError,
            "offset (6 bytes) must be non-negative and no greater than buffer length (6 bytes) minus 1",
            tandem.frombuffer,
            data,
            dtype=tandem.int8,
            offset=6,
        )
        self.refuses(
            ValueError,
            "buffer length (6 bytes) after offset (0 bytes) must be a multiple of element size (4)",
            tandem.frombuffer,
            data,
            dtype=tandem.float32,
        )
        for count in (4, 2**62, 2**63 - 1):
            self.refuses(
                ValueError, f"requested buffer length ({count} * 2 bytes)", tandem.frombuffer, data, dtype=tandem.int16, count=count
            )
        with self.assertRaises(TypeError):
            tandem.frombuffer("text", dtype=tandem.int8)

    def test_of_the_standard_library(self):
        import array

        self.same(tandem.tensor(array.array("d", [1.5, 2.5])), [1.5, 2.5], tandem.float64)


class DLPack(Case):
    def test_between_tensors(self):
        for dtype in FLOATING + WHOLE + [tandem.bool]:
            x = tandem.tensor([[1, 0], [1, 1]]).to(dtype)
            y = tandem.from_dlpack(x.t())
            self.assertEqual((y.tolist(), y.dtype, y.stride(), y.data_ptr()), (x.t().tolist(), dtype, (1, 2), x.data_ptr()))
        self.assertEqual(tandem.from_dlpack(tandem.zeros(0, 3)).shape, (0, 3))
        self.assertEqual(tandem.from_dlpack(tandem.tensor(2.5)).item(), 2.5)
        self.assertEqual(tandem.ones(1).__dlpack_device__(), (1, 0))

    def test_the_memory_lives_as_long_as_it_is_used(self):
        x = tandem.full((1000,), 3.0)
        ended = weakref.ref(x)
        y = tandem.from_dlpack(x)
        address = x.data_ptr()
        del x
        gc.collect()
        self.assertEqual((y.data_ptr(), y.sum().item()), (address, 3000.0))
        del y
        gc.collect()
        self.assertIsNone(ended())

    def test_capsules(self):
        x = tandem.ones(2)
        capsule = x.__dlpack__()
        self.same(tandem.from_dlpack(capsule), [1.0, 1.0])
        self.refuses(
            RuntimeError,
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once",
            tandem.from_dlpack,
            capsule,
        )
        for _ in range(100):
            x.__dlpack__()  # nobody takes it
            x.__dlpack__(max_version=(1, 0))
        copied = tandem.from_dlpack(x.__dlpack__(copy=True, max_version=(1, 0)))
        self.assertNotEqual(copied.data_ptr(), x.data_ptr())
        for wrong in (None, 3, "a", [1]):
            with self.assertRaises((RuntimeError, TypeError, AttributeError)):
                tandem.from_dlpack(wrong)
        with self.assertRaises(BufferError):
            tandem.ones(1, requires_grad=True).__dlpack__()

    def test_virtual_gpus_keep_their_memory(self):
        if not tandem.cuda.is_available() or not tandem.cuda.is_virtual(0):
            self.skipTest("needs a virtual GPU")
        with self.assertRaises(BufferError):
            tandem.from_dlpack(tandem.ones(2, device="cuda:0"))

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_with_numpy(self):
        array = numpy.arange(4.0)
        x = tandem.from_dlpack(array)
        array[0] = 7
        self.same(x, [7.0, 1.0, 2.0, 3.0], tandem.float64)
        back = numpy.from_dlpack(tandem.arange(3))
        gc.collect()
        self.assertEqual(back.tolist(), [0, 1, 2])


if __name__ == "__main__":
    unittest.main()
