"""torchvision.models: the residual networks, with torchvision's names of weights."""

from tandem.torch_compat.torchvision.models import resnet
from tandem.torch_compat.torchvision.models.resnet import ResNet, resnet18, resnet34, resnet50, resnet101, resnet152

__all__ = ["ResNet", "resnet", "resnet101", "resnet152", "resnet18", "resnet34", "resnet50"]


def __getattr__(name):
    """AttributeError that says so for what this stand-in does not have."""
    raise AttributeError(f"module 'torchvision.models' has no attribute '{name}': tandem's stand-in has the residual networks", name=name)
