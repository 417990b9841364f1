"""MNIST and the datasets of its form: files in the IDX format below root/<name>/raw, plain or with .gz."""

import gzip
import os
import struct

from tandem import _C
from tandem.torch_compat.torchvision.datasets.files import download
from tandem.torch_compat.torchvision.datasets.vision import VisionDataset
from tandem.torch_compat.torchvision.picture import from_tensor


def read_idx(path):
    """The uint8 tensor in an IDX file, plain or with .gz. RuntimeError where the file is another or cut off."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    if len(data) < 4 or data[:3] != b"\0\0\x08" or len(data) < 4 + 4 * data[3]:
        raise RuntimeError(f"{path}: no IDX file of bytes")
    sizes = struct.unpack_from(f">{data[3]}I", data, 4)
    start, count = 4 + 4 * len(sizes), 1
    for size in sizes:
        count *= size
    if len(data) != start + count:
        raise RuntimeError(f"{path}: the sizes {list(sizes)} want {count} bytes, and there are {len(data) - start}")
    if count == 0:
        return _C.empty(sizes, dtype=_C.uint8)
    return _C.frombuffer(bytearray(data), dtype=_C.uint8, offset=start).reshape(sizes)


class MNIST(VisionDataset):
    """Handwritten digits: 60,000 pictures of 28 by 28 to train on, 10,000 to test with; a sample is (picture, class)."""

    mirrors = ["https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]
    classes = ["0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six", "7 - seven", "8 - eight", "9 - nine"]

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_exists():
            raise RuntimeError(
                "Dataset not found. You can use download=True to download it: "
                f"no {self.resources[0][0].removesuffix('.gz')} (plain or .gz) and so on "
                f"in {self.raw_folder}"
            )
        part = "train" if train else "t10k"
        self.data = read_idx(self._found(f"{part}-images-idx3-ubyte"))
        self.targets = read_idx(self._found(f"{part}-labels-idx1-ubyte")).long()
        if len(self.data) != len(self.targets):
            raise RuntimeError(f"{self.raw_folder}: {len(self.data)} pictures, but {len(self.targets)} labels")

    @property
    def raw_folder(self):
        """Where its files are."""
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def class_to_idx(self):
        """The classes' numbers by their names."""
        return {name: number for number, name in enumerate(self.classes)}

    train_data = test_data = property(lambda self: self.data)
    train_labels = test_labels = property(lambda self: self.targets)

    def _found(self, name):
        """The path of a file, plain or with .gz; None where there is neither."""
        return next(
            (path for path in (os.path.join(self.raw_folder, name), os.path.join(self.raw_folder, name + ".gz")) if os.path.isfile(path)),
            None,
        )

    def _check_exists(self):
        return all(self._found(name.removesuffix(".gz")) for name, _ in self.resources)

    def download(self):
        """Downloads the files that are missing."""
        for name, md5 in self.resources:
            if self._found(name.removesuffix(".gz")) is None:
                download([mirror + name for mirror in self.mirrors], os.path.join(self.raw_folder, name), md5)

    def __getitem__(self, index):
        return self._changed(from_tensor(self.data[index]), int(self.targets[index]))

    def __len__(self):
        return len(self.data)

    def extra_repr(self):
        """Which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


class FashionMNIST(MNIST):
    """Pictures of clothes, in MNIST's form."""

    mirrors = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    ]
    classes = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
