"""Names of weights that torchvision has files of: no file comes with this stand-in, one is downloaded when it is asked for."""

import enum
import functools

from tandem import _C
from tandem.torch_compat.torchvision import transforms


class ImageClassification:
    """What a picture goes through before a model that was trained on ImageNet: one size, the middle, numbers of mean 0 and deviation 1."""

    def __init__(self, *, crop_size, resize_size=256, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225), interpolation=None):
        self.crop_size, self.resize_size, self.mean, self.std = [crop_size], [resize_size], list(mean), list(std)
        self.interpolation = interpolation or transforms.InterpolationMode.BILINEAR

    def __call__(self, img):
        img = transforms.CenterCrop(self.crop_size[0])(transforms.Resize(self.resize_size[0], self.interpolation)(img))
        as_numbers = transforms.ConvertImageDtype(_C.float32) if hasattr(img, "dim") else transforms.ToTensor()
        return transforms.Normalize(self.mean, self.std)(as_numbers(img))


class Weights:
    """One file: `url`, `transforms` that makes what goes before the model, and `meta`."""

    def __init__(self, url, resize_size=256):
        self.url, self.meta = url, {"num_classes": 1000, "min_size": (32, 32)}
        self.transforms = functools.partial(ImageClassification, crop_size=224, resize_size=resize_size)


class WeightsEnum(enum.Enum):
    """The names of a model's weights."""

    @classmethod
    def verify(cls, obj):
        """The weights by their name or themselves; TypeError where they are another model's."""
        if isinstance(obj, str):
            obj = cls[obj.removeprefix(f"{cls.__name__}.")]
        if obj is not None and not isinstance(obj, cls):
            raise TypeError(f"Invalid Weight class provided; expected {cls.__name__} but received {obj.__class__.__name__}.")
        return obj

    @property
    def url(self):
        return self.value.url

    @property
    def transforms(self):
        return self.value.transforms

    @property
    def meta(self):
        return self.value.meta

    def get_state_dict(self, *args, **kwargs):
        """Its tensors, from torch.hub's folder, or downloaded into it; where neither can be, the error says so."""
        from tandem.hub import load_state_dict_from_url

        return load_state_dict_from_url(self.url, *args, **kwargs)

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"


def weights_enum(name, module, first, second=None):
    """The enumeration of a model's weights, of the names of one or two files; the last is DEFAULT."""
    files = {"IMAGENET1K_V1": Weights(f"https://download.pytorch.org/models/{first}.pth")}
    if second is not None:
        files["IMAGENET1K_V2"] = Weights(f"https://download.pytorch.org/models/{second}.pth", 232)
    files["DEFAULT"] = list(files.values())[-1]
    return WeightsEnum(f"{name}_Weights", files, module=module)


def filled(make, names, weights, pretrained, progress, options):
    """make(**options), with the tensors of the weights where some are asked for. `pretrained` is the old form of the first ones."""
    if pretrained and weights is None:
        weights = names.IMAGENET1K_V1
    weights = names.verify(weights)
    if weights is None:
        return make(**options)
    classes = weights.meta["num_classes"]
    if options.setdefault("num_classes", classes) != classes:
        raise ValueError(f"The parameter 'num_classes' expected value {classes} but got {options['num_classes']} instead.")
    model = make(**options)
    model.load_state_dict(weights.get_state_dict(progress=progress))
    return model
