"""torchvision.datasets: those of files in their usual folders, and one of random pictures."""

from tandem.torch_compat.torchvision.datasets.cifar import CIFAR10, CIFAR100
from tandem.torch_compat.torchvision.datasets.fake import FakeData
from tandem.torch_compat.torchvision.datasets.folder import DatasetFolder, ImageFolder
from tandem.torch_compat.torchvision.datasets.mnist import MNIST, FashionMNIST
from tandem.torch_compat.torchvision.datasets.vision import VisionDataset

__all__ = ["CIFAR10", "CIFAR100", "DatasetFolder", "FakeData", "FashionMNIST", "ImageFolder", "MNIST", "VisionDataset"]


def __getattr__(name):
    """AttributeError that says so for what this stand-in does not have."""
    raise AttributeError(f"module 'torchvision.datasets' has no attribute '{name}': tandem's stand-in does not have it", name=name)
