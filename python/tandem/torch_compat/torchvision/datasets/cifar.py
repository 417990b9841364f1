"""CIFAR-10 and CIFAR-100, from the pickled batches that they come in. Reading them takes NumPy."""

import os
import pickle
import tarfile

from tandem import _C
from tandem.torch_compat.torchvision.datasets.files import download
from tandem.torch_compat.torchvision.datasets.vision import VisionDataset
from tandem.torch_compat.torchvision.picture import from_tensor


class _Unpickler(pickle.Unpickler):
    """Reads arrays, texts and containers only: a dataset's file runs no code."""

    _NAMES = {
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("_codecs", "encode"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
    }

    def find_class(self, module, name):
        if (module, name) not in self._NAMES:
            raise pickle.UnpicklingError(f"a batch of CIFAR has no {module}.{name} in it")
        if name == "_reconstruct":
            import numpy

            return (numpy._core if hasattr(numpy, "_core") else numpy.core).multiarray._reconstruct
        return super().find_class(module, name)


class CIFAR10(VisionDataset):
    """Pictures in colour of 32 by 32: 50,000 to train on, 10,000 to test with; a sample is (picture, class)."""

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list = ["data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"]
    test_list = ["test_batch"]
    meta, names_key, labels_key = "batches.meta", "label_names", "labels"

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError(
                f"Dataset not found or corrupted. You can use download=True to download it: the batches are looked for in {self._folder}"
            )
        import numpy

        batches = [self._read(name) for name in (self.train_list if train else self.test_list)]
        # (number, height, width, channels), as torchvision has it
        self.data = numpy.concatenate([batch["data"] for batch in batches]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.targets = [int(label) for batch in batches for label in batch[self.labels_key]]
        self.classes = list(self._read(self.meta)[self.names_key])
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}

    @property
    def _folder(self):
        return os.path.join(self.root, self.base_folder)

    def _read(self, name):
        with open(os.path.join(self._folder, name), "rb") as file:
            return _Unpickler(file, encoding="latin1").load()

    def _check_integrity(self):
        return all(os.path.isfile(os.path.join(self._folder, name)) for name in [*self.train_list, *self.test_list, self.meta])

    def download(self):
        """Downloads and unpacks the batches where they are missing."""
        if self._check_integrity():
            return
        archive = os.path.join(self.root, self.filename)
        if not os.path.isfile(archive):
            download([self.url], archive, self.tgz_md5)
        with tarfile.open(archive) as packed:
            packed.extractall(self.root, filter="data")

    def __getitem__(self, index):
        pixels = _C.tensor(self.data[index]).permute(2, 0, 1)
        return self._changed(from_tensor(pixels), self.targets[index])

    def __len__(self):
        return len(self.data)

    def extra_repr(self):
        """Which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """The same with a hundred classes."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list, test_list = ["train"], ["test"]
    meta, names_key, labels_key = "meta", "fine_label_names", "fine_labels"
