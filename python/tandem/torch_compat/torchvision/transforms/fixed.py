"""Transforms that do the same to every picture."""

from tandem.nn import Module
from tandem.torch_compat.torchvision.transforms import functional as F


def pair_of(size):
    """(height, width) of one number or of two."""
    if isinstance(size, int):
        return size, size
    if len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError("Please provide only two dimensions (h, w) for size.")
    return tuple(size)


class Compose:
    """Several transforms, one after another."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return "Compose(" + "".join(f"\n    {transform}" for transform in self.transforms) + "\n)"


class ToTensor:
    """A picture or an array (height, width, channels) as a tensor (channels, height, width), bytes as numbers from 0 to 1."""

    def __call__(self, pic):
        return F.to_tensor(pic)

    def __repr__(self):
        return "ToTensor()"


class PILToTensor:
    """A picture as a tensor of bytes."""

    def __call__(self, pic):
        return F.pil_to_tensor(pic)

    def __repr__(self):
        return "PILToTensor()"


class ToPILImage:
    """A tensor or an array as a picture."""

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return F.to_pil_image(pic, self.mode)

    def __repr__(self):
        return "ToPILImage(" + (f"mode={self.mode}" if self.mode is not None else "") + ")"


class Lambda:
    """Any function."""

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self):
        return "Lambda()"


class ConvertImageDtype(Module):
    """The same picture in numbers of another dtype."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return F.convert_image_dtype(image, self.dtype)


class Normalize(Module):
    """(tensor - mean) / std, channel by channel."""

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self):
        return f"Normalize(mean={self.mean}, std={self.std})"


class Resize(Module):
    """At another size: (height, width), or one number for the shorter side."""

    def __init__(self, size, interpolation=F.InterpolationMode.BILINEAR, max_size=None, antialias=True):
        super().__init__()
        if not isinstance(size, (int, tuple, list)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        self.size, self.interpolation, self.max_size, self.antialias = size, interpolation, max_size, antialias

    def forward(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self):
        mode = getattr(self.interpolation, "value", self.interpolation)
        return f"Resize(size={self.size}, interpolation={mode}, max_size={self.max_size}, antialias={self.antialias})"


class CenterCrop(Module):
    """The middle."""

    def __init__(self, size):
        super().__init__()
        self.size = pair_of(size)

    def forward(self, img):
        return F.center_crop(img, self.size)

    def __repr__(self):
        return f"CenterCrop(size={self.size})"


class FiveCrop(Module):
    """The four corners and the middle, as a tuple."""

    def __init__(self, size):
        super().__init__()
        self.size = pair_of(size)

    def forward(self, img):
        height, width = self.size
        whole_width, whole_height = F.get_image_size(img)
        if width > whole_width or height > whole_height:
            raise ValueError(f"Requested crop size {self.size} is bigger than input size {(whole_height, whole_width)}")
        corners = [(top, left) for top in (0, whole_height - height) for left in (0, whole_width - width)]
        return (*(F.crop(img, top, left, height, width) for top, left in corners), F.center_crop(img, self.size))


class Pad(Module):
    """Wider on its sides."""

    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self):
        return f"Pad(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class Grayscale(Module):
    """Without colours, in 1 or 3 channels."""

    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return F.to_grayscale(img, self.num_output_channels)

    def __repr__(self):
        return f"Grayscale(num_output_channels={self.num_output_channels})"
