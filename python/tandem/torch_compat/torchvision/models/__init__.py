"""torchvision.models: the residual networks and VGG, with torchvision's names of weights."""

from tandem.torch_compat.torchvision.models import resnet, vgg
from tandem.torch_compat.torchvision.models._weights import Weights, WeightsEnum

_DEPTHS = (18, 34, 50, 101, 152)
_RESNET = ["ResNet", *(f"resnet{depth}" for depth in _DEPTHS), *(f"ResNet{depth}_Weights" for depth in _DEPTHS)]
globals().update({name: getattr(resnet, name) for name in _RESNET})
globals().update({name: getattr(vgg, name) for name in vgg.__all__})

__all__ = ["Weights", "WeightsEnum", "get_model", "list_models", "resnet", "vgg", *_RESNET, *vgg.__all__]


def list_models():
    """The names of the models there are, in order."""
    return sorted(name for name in __all__ if name not in ("resnet", "vgg") and name.startswith(("resnet", "vgg")))


def get_model(name, **config):
    """The model of that name."""
    if name.lower() not in list_models():
        raise ValueError(f"Unknown model {name}")
    return globals()[name.lower()](**config)


def __getattr__(name):
    """AttributeError that says so for what this stand-in does not have."""
    raise AttributeError(
        f"module 'torchvision.models' has no attribute '{name}': tandem's stand-in has the residual networks and VGG", name=name
    )
