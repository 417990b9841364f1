"""Files: what save writes and load reads, storages that stay shared, where tensors go, and files that are refused."""

import collections
import io
import os
import pickle
import stat
import tempfile
import threading
import unittest
import zipfile
from fractions import Fraction
from unittest import mock

import tandem
from tandem import nn, optim

GPUS = tandem.cuda.device_count()
DTYPES = [
    tandem.bool,
    tandem.uint8,
    tandem.int8,
    tandem.int16,
    tandem.int32,
    tandem.int64,
    tandem.float16,
    tandem.bfloat16,
    tandem.float32,
    tandem.float64,
]


def saved(obj, **options):
    """The object in a file in memory."""
    file = io.BytesIO()
    tandem.save(obj, file, **options)
    file.seek(0)
    return file


def back(obj, **options):
    return tandem.load(saved(obj), **options)


class Case(unittest.TestCase):
    def refuses(self, error, text, call, *args, **kwargs):
        with self.assertRaises(error) as raised:
            call(*args, **kwargs)
        self.assertTrue(str(raised.exception).startswith(text), f"{str(raised.exception)!r} does not begin with {text!r}")


class OlderFormat(Case):
    """The format before PyTorch 1.6, which most weights in public packages are in."""

    def test_comes_back(self):
        flat = tandem.arange(12.0)
        value = {"rows": flat.view(3, 4), "part": flat[4:7], "step": 3, "net": nn.Linear(2, 3).state_dict()}
        for dtype in DTYPES:
            value[str(dtype)] = tandem.tensor([[1, 0, 1], [0, 1, 1]]).to(dtype)
        for protocol in (2, 3, 4, 5):
            file = saved(value, _use_new_zipfile_serialization=False, pickle_protocol=protocol)
            self.assertFalse(file.getvalue().startswith(b"PK"))
            read = tandem.load(file)
            self.assertEqual(read["step"], 3)
            for name in value.keys() - {"step", "net"}:
                self.assertEqual((read[name].dtype, read[name].tolist()), (value[name].dtype, value[name].tolist()))
            self.assertTrue(tandem.equal(read["net"]["weight"], value["net"]["weight"]))
            read["rows"][1, 0] = -1
            self.assertEqual(read["part"][0].item(), -1)  # one storage

    def test_goes_where_it_is_told(self):
        for device in [f"cuda:{i}" for i in range(GPUS)]:
            read = tandem.load(saved({"a": tandem.ones(2)}, _use_new_zipfile_serialization=False), map_location=device)
            self.assertEqual((str(read["a"].device), read["a"].tolist()), (device, [1, 1]))

    def test_that_is_damaged_is_refused(self):
        whole = saved(tandem.arange(100.0), _use_new_zipfile_serialization=False).getvalue()
        self.refuses(RuntimeError, "load: storage 0 has 396 bytes, not 400: the file is damaged", tandem.load, io.BytesIO(whole[:-4]))
        other = whole.replace(pickle.dumps(1001, 2), pickle.dumps(1002, 2))
        self.refuses(RuntimeError, "Invalid protocol version: 1002", tandem.load, io.BytesIO(other))
        self.refuses(RuntimeError, "load: this is no file of torch.save's", tandem.load, io.BytesIO(pickle.dumps([1])))


class RoundTrips(Case):
    def test_tensors(self):
        for dtype in DTYPES:
            x = tandem.tensor([[1, 0, 1], [0, 1, 1]]).to(dtype)
            y = back(x)
            self.assertEqual((y.tolist(), y.dtype, y.shape), (x.tolist(), dtype, (2, 3)))
        for x in (
            tandem.tensor(2.5),
            tandem.zeros(0),
            tandem.zeros(2, 0, 3),
            tandem.arange(6).reshape(2, 3).t(),
            tandem.arange(10)[3:7:2],
            tandem.ones(1).expand(3, 2),
        ):
            y = back(x)
            self.assertEqual((y.tolist(), y.shape, y.dtype), (x.tolist(), x.shape, x.dtype))
        self.assertEqual(back(tandem.arange(6).reshape(2, 3).t()).stride(), (1, 3))
        self.assertTrue(back(tandem.ones(1, requires_grad=True)).requires_grad)
        big = tandem.randn(300, 70).bfloat16()
        self.assertTrue(tandem.equal(back(big), big))

    def test_containers(self):
        thing = {
            "a": [1, 2.5, None, "text", True, b"bytes", (1, (2,))],
            "set": {1, 2},
            "big": 2**80,
            "ordered": collections.OrderedDict(x=tandem.ones(2)),
            "complex": 1j,
            "size": tandem.Size([2, 3]),
            "device": tandem.device("cpu"),
            "dtype": tandem.float16,
        }
        found = back(thing)
        self.assertEqual(found["ordered"]["x"].tolist(), [1.0, 1.0])
        for name in ("a", "set", "big", "complex", "size", "device"):
            self.assertEqual((found[name], type(found[name])), (thing[name], type(thing[name])))
        self.assertIs(found["dtype"], tandem.float16)
        self.assertIsInstance(found["ordered"], collections.OrderedDict)

    def test_what_was_shared_is_shared(self):
        x = tandem.arange(10)
        a, b, c, d = back([x, x[2:5], x, x.view(2, 5)])
        self.assertIs(a, c)
        a[3] = 99
        self.assertEqual((b.tolist(), d[0].tolist(), b.storage_offset()), ([2, 99, 4], [0, 1, 2, 99, 4], 2))
        self.assertEqual(a.data_ptr(), d.data_ptr())
        self.assertLess(len(saved([tandem.ones(10000)] * 5).getvalue()), 50000)
        part = saved(tandem.zeros(10000)[:2])
        self.assertGreater(len(part.getvalue()), 40000)  # as PyTorch: the whole storage, so that views find each other

    def test_parameters_and_models(self):
        p = nn.Parameter(tandem.tensor([1.0, 2.0]), requires_grad=False)
        q = back(p)
        self.assertEqual((type(q), q.tolist(), q.requires_grad), (nn.Parameter, [1.0, 2.0], False))
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
        adam = optim.Adam(model.parameters())
        model(tandem.randn(5, 3)).sum().backward()
        adam.step()
        state = back({"model": model.state_dict(), "optim": adam.state_dict(), "epoch": 3})
        twin = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
        twin.load_state_dict(state["model"])
        other = optim.Adam(twin.parameters())
        other.load_state_dict(state["optim"])
        for first, second in zip(model.state_dict().items(), twin.state_dict().items()):
            self.assertEqual(first[0], second[0])
            self.assertTrue(tandem.equal(first[1], second[1]))
        whole = back(model, weights_only=False)
        self.assertTrue(tandem.equal(whole[0].weight, model[0].weight))
        self.refuses(pickle.UnpicklingError, "Weights only load failed.", back, model)

    def test_names_files_and_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.pt")
            tandem.save(tandem.ones(2), path)
            self.assertEqual(tandem.load(path).tolist(), [1.0, 1.0])
            import pathlib

            tandem.save(tandem.zeros(2), pathlib.Path(path))
            self.assertEqual(tandem.load(pathlib.Path(path)).tolist(), [0.0, 0.0])
            with open(path, "wb") as file:
                tandem.save([1], file)
            with open(path, "rb") as file:
                self.assertEqual(tandem.load(file), [1])
            with zipfile.ZipFile(path) as archive:
                self.assertTrue(any(name.endswith("/data.pkl") for name in archive.namelist()))
            with self.assertRaises(Exception):
                tandem.save(lambda: 1, path)  # no pickle has it
            self.assertEqual((tandem.load(path), os.listdir(folder)), ([1], ["x.pt"]))  # what was there is there
            with self.assertRaises(FileNotFoundError):
                tandem.load(os.path.join(folder, "none.pt"))

    def test_threads_that_write_one_file_see_whole_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.pt")
            tandem.save(tandem.full((1000,), -1.0), path)
            wrong = []

            def write(number):
                try:
                    for _ in range(10):
                        tandem.save(tandem.full((1000,), float(number)), path)
                except Exception as error:
                    wrong.append(error)

            threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                found = tandem.load(path)
                self.assertEqual(found.min().item(), found.max().item())
            for thread in threads:
                thread.join()
            self.assertEqual((wrong, os.listdir(folder)), ([], ["x.pt"]))

    def test_what_a_path_names_stays_what_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path, link, pipe = (os.path.join(folder, name) for name in ("x.pt", "link.pt", "pipe"))
            tandem.save([1], path)
            os.chmod(path, 0o640)
            os.symlink("x.pt", link)
            tandem.save([2], link)
            self.assertTrue(os.path.islink(link))
            self.assertEqual((tandem.load(path), stat.S_IMODE(os.stat(path).st_mode)), ([2], 0o640))
            os.mkfifo(pipe)
            received = []

            def read():
                with open(pipe, "rb") as file:
                    received.append(file.read())

            reader = threading.Thread(target=read)
            reader.start()
            tandem.save([3], pipe)
            reader.join()
            self.assertEqual(tandem.load(io.BytesIO(received[0])), [3])
            self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
            before = os.umask(0o027)
            try:
                tandem.save([4], os.path.join(folder, "new.pt"))
            finally:
                os.umask(before)
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, "new.pt")).st_mode), 0o640)
            self.assertEqual(sorted(os.listdir(folder)), ["link.pt", "new.pt", "pipe", "x.pt"])

    def test_a_raw_file_may_give_less_than_was_asked_for(self):
        class Slow(io.FileIO):
            def readinto(self, buffer):
                return super().readinto(memoryview(buffer)[:7])

        with tempfile.NamedTemporaryFile(suffix=".pt") as file:
            tandem.save(tandem.arange(100), file.name)
            raw = Slow(file.name)
            self.assertTrue(tandem.equal(tandem.load(raw), tandem.arange(100)))
            raw.seek(0)  # it is still open
            raw.close()

    def test_a_view_that_requires_a_gradient(self):
        x = tandem.ones(2, requires_grad=True)
        y = back(x * 2)
        self.assertEqual(y.tolist(), [2.0, 2.0])


class Places(Case):
    @unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
    def test_map_location(self):
        last = f"cuda:{GPUS - 1}"
        x = tandem.arange(3, device=last)
        self.assertEqual(back(x).device, x.device)
        for where in (
            "cpu",
            tandem.device("cpu"),
            {last: "cpu"},
            lambda storage, location: storage.cpu() if hasattr(storage, "cpu") else storage,
        ):
            y = back(x, map_location=where)
            self.assertEqual((y.device, y.tolist()), (tandem.device("cpu"), [0, 1, 2]))
        for where in ("cuda:0", tandem.device("cuda", 0), 0, {last: "cuda:0"}, "cuda"):
            self.assertEqual(back(x, map_location=where).device, tandem.device("cuda:0"))
        self.assertEqual(back(x, map_location={"cuda:7": "cpu"}).device, x.device)
        seen = []

        def place(storage, location):
            seen.append(location)

        self.assertEqual(back([x, tandem.ones(1)], map_location=place)[1].tolist(), [1.0])
        self.assertEqual(sorted(seen), sorted([last, "cpu"]))
        a, b = back([x, x[1:]], map_location="cuda:0")
        a[1] = 9
        self.assertEqual(b.tolist(), [9, 2])

    def test_from_a_machine_with_gpus(self):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("archive/data.pkl", hand_made(b"cuda:55"))
            archive.writestr("archive/data/0", b"\x00\x00\x80\x3f" * 2)
            archive.writestr("archive/version", "3\n")
        with self.assertRaises(RuntimeError):
            tandem.load(io.BytesIO(file.getvalue()))
        self.assertEqual(tandem.load(io.BytesIO(file.getvalue()), map_location="cpu").tolist(), [1.0, 1.0])


def text(value):
    return b"X" + len(value).to_bytes(4, "little") + value


def hand_made(location, key=b"0", count=2, size=2, stride=1, offset=0):
    """The pickle of a tensor of float32, byte by byte."""
    return (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(("
        + text(b"storage")
        + b"ctorch\nFloatStorage\n"
        + text(key)
        + text(location)
        + b"J"
        + count.to_bytes(4, "little", signed=True)
        + b"tQJ"
        + offset.to_bytes(4, "little", signed=True)
        + b"(J"
        + size.to_bytes(4, "little", signed=True)
        + b"t(J"
        + stride.to_bytes(4, "little", signed=True)
        + b"t\x89ccollections\nOrderedDict\n)RtR."
    )


def archive_of(pickled, data=b"\x00\x00\x80\x3f\x00\x00\x00\x40", **others):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        if data is not None:
            archive.writestr("archive/data/0", data)
        archive.writestr("archive/version", "3\n")
        for name, content in others.items():
            archive.writestr(f"archive/{name}", content)
    file.seek(0)
    return file


class Refused(Case):
    def test_what_is_made_by_hand_and_right(self):
        self.assertEqual(tandem.load(archive_of(hand_made(b"cpu"))).tolist(), [1.0, 2.0])
        self.assertEqual(tandem.load(archive_of(hand_made(b"cpu", size=1, offset=1))).tolist(), [2.0])

    def test_files_that_run_something(self):
        for module, name in (
            (b"os", b"system"),
            (b"posix", b"system"),
            (b"builtins", b"eval"),
            (b"builtins", b"getattr"),
            (b"subprocess", b"Popen"),
            (b"nt", b"system"),
            (b"torch", b"load"),
            (b"torch.serialization", b"load"),
            (b"tandem", b"load"),
            (b"torch.hub", b"load"),
            (b"tandem._C", b"_unpack_tensor"),
            (b"functools", b"partial"),
            (b"importlib", b"import_module"),
            (b"__builtin__", b"exec"),
        ):
            pickled = b"\x80\x02c" + module + b"\n" + name + b"\n" + text(b"touch /tmp/never") + b"\x85R."
            for options in ({}, {"weights_only": True}, {"map_location": "cpu"}):
                with self.assertRaises(pickle.UnpicklingError) as raised:
                    tandem.load(archive_of(pickled), **options)
                self.assertTrue(str(raised.exception).startswith("Weights only load failed."), raised.exception)
        dotted = b"\x80\x04" + b"\x8c\x05torch\x8c\x0dTensor.numpy_\x93."
        with self.assertRaises((pickle.UnpicklingError, AttributeError)):
            tandem.load(archive_of(dotted))
        # The names that are known may not be bent to other ends.
        for bad in (b"\x80\x02cbuiltins\nset\n" + text(b"ab") + b"\x85R.",):
            self.assertEqual(tandem.load(archive_of(bad)), {"a", "b"})
        with self.assertRaises(Exception):
            tandem.load(archive_of(b"\x80\x02ctorch\nTensor\n" + text(b"__class__") + b"\x85R."))

    def test_a_class_that_is_allowed(self):
        tandem.serialization.add_safe_globals([Point])
        self.assertEqual(back(Point(3)).x, 3)

    def test_no_files_of_ours(self):
        for content, word in (
            (b"", "load: this is no file"),
            (b"text", "load: this is no file"),
            (b"PK\x03\x04" + b"\x00" * 50, "PytorchStreamReader failed reading zip archive"),
        ):
            self.refuses(RuntimeError, word, tandem.load, io.BytesIO(content))
        empty = io.BytesIO()
        with zipfile.ZipFile(empty, "w") as archive:
            archive.writestr("other", "text")
        self.refuses(RuntimeError, "load: the archive has no data.pkl", tandem.load, io.BytesIO(empty.getvalue()))
        self.refuses(
            RuntimeError,
            "load: the file's numbers are of a big-endian machine",
            tandem.load,
            archive_of(hand_made(b"cpu"), byteorder="big"),
        )

    def test_damaged_ones(self):
        whole = saved({"a": tandem.arange(1000.0), "b": [tandem.ones(3)]}).getvalue()
        for end in range(0, len(whole), max(len(whole) // 60, 1)):
            with self.assertRaises((RuntimeError, pickle.UnpicklingError, EOFError)):
                tandem.load(io.BytesIO(whole[:end]))
        self.refuses(
            RuntimeError, "load: storage 0 has 8 bytes, not 400: the file is damaged", tandem.load, archive_of(hand_made(b"cpu", count=100))
        )
        with self.assertRaises((RuntimeError, KeyError)):
            tandem.load(archive_of(hand_made(b"cpu"), data=None))
        with self.assertRaises((RuntimeError, KeyError)):
            tandem.load(archive_of(hand_made(b"cpu", key=b"../../etc/passwd")))
        self.refuses(pickle.UnpicklingError, "", tandem.load, archive_of(b"garbage"))

    def test_tensors_beyond_their_memory(self):
        for wrong in (
            {"size": 3},
            {"size": 1000},
            {"size": 2, "stride": 2},
            {"size": 2, "offset": 1},
            {"size": -1},
            {"size": 2, "stride": -1},
            {"offset": -1},
            {"count": -1},
            {"offset": 2**31 - 1},
            {"size": 2**31 - 1, "stride": 2**31 - 1},
            {"size": 2**31 - 1, "stride": 0, "offset": 5},
        ):
            with self.assertRaises((RuntimeError, ValueError), msg=wrong):
                tandem.load(archive_of(hand_made(b"cpu", **wrong)))

    def test_old_and_other_formats(self):
        self.refuses(
            RuntimeError, "load: this is a TorchScript archive", tandem.load, archive_of(hand_made(b"cpu"), **{"constants.pkl": b""})
        )
        self.refuses(RuntimeError, "load: this is no file of torch.save's", tandem.load, io.BytesIO(pickle.dumps([1])))

    def test_the_environment_decides_where_the_program_says_nothing(self):
        plain, trusting = {"TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1"}, {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "yes"}
        with mock.patch.dict(os.environ, trusting):
            self.assertEqual(back(Fraction(1, 3)), Fraction(1, 3))
            self.refuses(pickle.UnpicklingError, "Weights only load failed", back, Fraction(1, 3), weights_only=True)
        with mock.patch.dict(os.environ, plain):
            self.refuses(pickle.UnpicklingError, "Weights only load failed", back, Fraction(1, 3), weights_only=False)
        with mock.patch.dict(os.environ, {**plain, **trusting}):
            self.refuses(RuntimeError, "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or", back, [1])


class Point:
    """A class of a program's own."""

    def __init__(self, x):
        self.x = x


if __name__ == "__main__":
    unittest.main()
