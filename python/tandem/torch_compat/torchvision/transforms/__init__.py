"""torchvision.transforms: what is done to pictures and tensors on their way to a model."""

from tandem.torch_compat.torchvision.transforms import functional
from tandem.torch_compat.torchvision.transforms.chance import (
    ColorJitter,
    GaussianBlur,
    RandomAffine,
    RandomApply,
    RandomChoice,
    RandomCrop,
    RandomErasing,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomOrder,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
)
from tandem.torch_compat.torchvision.transforms.fixed import (
    CenterCrop,
    Compose,
    ConvertImageDtype,
    FiveCrop,
    Grayscale,
    Lambda,
    Normalize,
    Pad,
    PILToTensor,
    Resize,
    ToPILImage,
    ToTensor,
)
from tandem.torch_compat.torchvision.transforms.functional import InterpolationMode

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ConvertImageDtype",
    "FiveCrop",
    "GaussianBlur",
    "Grayscale",
    "InterpolationMode",
    "Lambda",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomAffine",
    "RandomApply",
    "RandomChoice",
    "RandomCrop",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomOrder",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "ToPILImage",
    "ToTensor",
    "functional",
]


def __getattr__(name):
    """AttributeError that says so for what this stand-in does not have."""
    raise AttributeError(f"module 'torchvision.transforms' has no attribute '{name}': tandem's stand-in does not have it", name=name)
