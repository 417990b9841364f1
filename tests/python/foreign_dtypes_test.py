"""Dtypes of PyTorch's that no tensor here has: their facts, how they are read and compared, and what making a tensor of one says."""

import copy
import pickle
import unittest

import tandem

NAMES = {
    "complex32": (4, False, True, True),
    "complex64": (8, False, True, True),
    "complex128": (16, False, True, True),
    "uint16": (2, False, False, False),
    "uint32": (4, False, False, False),
    "uint64": (8, False, False, False),
    "float8_e4m3fn": (1, True, False, True),
    "float8_e4m3fnuz": (1, True, False, True),
    "float8_e5m2": (1, True, False, True),
    "float8_e5m2fnuz": (1, True, False, True),
    "float8_e8m0fnu": (1, True, False, False),
}


class ForeignDTypes(unittest.TestCase):
    def test_facts(self):
        for name, facts in NAMES.items():
            dtype = getattr(tandem, name)
            with self.subTest(name):
                self.assertIsInstance(dtype, tandem.dtype)
                self.assertEqual((dtype.itemsize, dtype.is_floating_point, dtype.is_complex, dtype.is_signed), facts)
                self.assertTrue(repr(dtype).endswith(f".{name}"))
                self.assertIs(pickle.loads(pickle.dumps(dtype)), dtype)
                self.assertIs(copy.deepcopy(dtype), dtype)
                self.assertNotEqual(dtype, tandem.float32)
                self.assertEqual({dtype: 1}[getattr(tandem, name)], 1)
        self.assertIs(tandem.cfloat, tandem.complex64)
        self.assertFalse(tandem.float32.is_complex)

    def test_what_they_hold(self):
        self.assertEqual((tandem.iinfo(tandem.uint16).max, tandem.iinfo(tandem.uint64).max, tandem.iinfo(tandem.uint32).min), (65535, 2**64 - 1, 0))
        self.assertEqual((tandem.iinfo(tandem.int8).min, tandem.iinfo(tandem.uint8).max), (-128, 255))
        self.assertEqual((tandem.finfo(tandem.float8_e4m3fn).max, tandem.finfo(tandem.float8_e5m2).tiny), (448.0, 6.103515625e-05))
        self.assertEqual(tandem.finfo(tandem.float8_e8m0fnu).min, 5.877471754111438e-39)
        self.assertEqual((tandem.finfo(tandem.complex64).dtype, tandem.finfo(tandem.complex64).eps), ("float32", 2.0**-23))
        with self.assertRaisesRegex(TypeError, "requires an integer input type"):
            tandem.iinfo(tandem.complex64)

    def test_no_tensor_has_them(self):
        x = tandem.ones(2)
        for call in (
            lambda: tandem.zeros(2, dtype=tandem.complex64),
            lambda: tandem.tensor([1, 2], dtype=tandem.uint16),
            lambda: x.to(tandem.float8_e4m3fn),
            lambda: x.to("cpu", dtype=tandem.float8_e4m3fn),
            lambda: x.sum(dtype=tandem.complex128),
            lambda: tandem.empty_like(x, dtype=tandem.uint32),
        ):
            with self.assertRaisesRegex(NotImplementedError, r"tandem has no tensors of \w+\.(complex|uint|float8)"):
                call()
        with self.assertRaises(TypeError):
            type(tandem.complex64)()


if __name__ == "__main__":
    unittest.main()
