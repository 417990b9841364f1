"""Storages: bytes and elements under tensors, on the CPU and on a GPU; files as memory."""

import os
import tempfile
import unittest

import tandem

DEVICES = ("cpu", "cuda:0")


class Bytes(unittest.TestCase):
    def test_reading(self):
        for device in DEVICES:
            storage = tandem.tensor([1, 256, -1], dtype=tandem.int16, device=device).untyped_storage()
            self.assertEqual(storage.tolist(), [1, 0, 0, 1, 255, 255])
            self.assertEqual(list(storage), storage.tolist())
            self.assertEqual((len(storage), storage.nbytes(), storage.size(), storage.element_size()), (6, 6, 6, 1))
            self.assertEqual((storage[3], storage[-1]), (1, 255))
            self.assertEqual(storage[2:4].tolist(), [0, 1])
            self.assertEqual(storage.device, tandem.device(device))
            with self.assertRaisesRegex(IndexError, "index 6 out of range for storage of size 6"):
                storage[6]

    def test_writing_is_seen_by_the_tensor(self):
        for device in DEVICES:
            x = tandem.zeros(3, dtype=tandem.int16, device=device)
            storage = x.untyped_storage()
            storage[0] = 5
            storage[2:4] = 1
            self.assertEqual(x.tolist(), [5, 257, 0])
            storage.fill_(255)
            self.assertEqual(x.tolist(), [-1, -1, -1])
            storage.copy_(tandem.ones(3, dtype=tandem.int16).untyped_storage())
            self.assertEqual(x.tolist(), [1, 1, 1])
            with self.assertRaisesRegex(RuntimeError, "size does not match, self was 6 bytes but src was 2 bytes"):
                storage.copy_(tandem.UntypedStorage(2))

    def test_a_view_has_all_of_it(self):
        x = tandem.arange(4.0)
        self.assertEqual(x[2:].untyped_storage().nbytes(), 16)
        self.assertEqual(x[2:].untyped_storage(), x.untyped_storage())
        self.assertEqual(x[1:].storage().tolist(), [0.0, 1.0, 2.0, 3.0])
        self.assertNotEqual(x.untyped_storage(), x.clone().untyped_storage())
        self.assertNotEqual(x.untyped_storage().clone().data_ptr(), x.data_ptr())

    def test_making_and_moving(self):
        self.assertEqual(tandem.UntypedStorage([1, 2]).tolist(), [1, 2])
        self.assertEqual(len(tandem.UntypedStorage(8)), 8)
        storage = tandem.UntypedStorage([7])
        self.assertIs(storage.cpu(), storage)
        self.assertEqual(storage.cuda().device, tandem.device("cuda:0"))
        self.assertEqual(storage.cuda().tolist(), [7])

    def test_printing(self):
        self.assertEqual(repr(tandem.UntypedStorage([1, 2])), " 1\n 2\n[torch.storage.UntypedStorage(device=cpu) of size 2]")
        self.assertIn("TypedStorage(dtype=", repr(tandem.ones(1).storage()))

    def test_what_requires_a_gradient(self):
        x = tandem.ones(2, requires_grad=True)
        x.untyped_storage().fill_(0)
        self.assertEqual(x.tolist(), [0.0, 0.0])
        self.assertEqual(tandem.zeros(0).untyped_storage().tolist(), [])


class Elements(unittest.TestCase):
    def test_typed(self):
        x = tandem.tensor([1.5, 2.5])
        storage = x.storage()
        self.assertEqual(storage.tolist(), [1.5, 2.5])
        self.assertEqual((len(storage), storage.nbytes(), storage.element_size(), storage.dtype), (2, 8, 4, tandem.float32))
        storage[1] = 7
        self.assertEqual(x.tolist(), [1.5, 7.0])
        self.assertEqual(storage.untyped().data_ptr(), x.data_ptr())
        with self.assertRaisesRegex(RuntimeError, "slices are only supported in UntypedStorage.__getitem__"):
            storage[0:1]
        with self.assertRaisesRegex(IndexError, "index 2 out of range for storage of size 2"):
            storage[2]
        self.assertTrue(tandem.is_storage(storage) and tandem.is_storage(storage.untyped()))
        self.assertFalse(tandem.is_storage(x))

    def test_set(self):
        x = tandem.arange(6.0)
        for source in (x.storage(), x.untyped_storage()):
            self.assertEqual(tandem.empty(0).set_(source).tolist(), x.tolist())
            self.assertEqual(tandem.empty(0).set_(source, 1, (2, 2), (2, 1)).tolist(), [[1.0, 2.0], [3.0, 4.0]])
            self.assertEqual(tandem.empty(0).set_(source, 2, (2, 2)).tolist(), [[2.0, 3.0], [4.0, 5.0]])
        tandem.empty(0).set_(x.storage())[0] = 9
        self.assertEqual(x[0].item(), 9)


class Files(unittest.TestCase):
    def test_from_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "numbers")
            with open(path, "wb") as file:
                file.write(bytes([1, 0, 2, 0]))
            own = tandem.from_file(path, size=2, dtype=tandem.int16)
            own[0] = 9
            self.assertEqual(own.tolist(), [9, 2])
            self.assertEqual(tandem.from_file(path, size=2, dtype=tandem.int16).tolist(), [1, 2])
            shared = tandem.from_file(path, shared=True, size=3, dtype=tandem.int16)
            shared[2] = 5
            self.assertEqual(tandem.from_file(path, size=3, dtype=tandem.int16).tolist(), [1, 2, 5])
            with self.assertRaisesRegex(RuntimeError, "has 6 bytes, too few for 4 elements"):
                tandem.from_file(path, size=4, dtype=tandem.int16)


if __name__ == "__main__":
    unittest.main()
