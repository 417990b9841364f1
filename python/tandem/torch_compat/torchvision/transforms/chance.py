"""Transforms that draw by chance what they do to a picture, from the CPU's random numbers."""

import math

from tandem import _C
from tandem.nn import Module
from tandem.torch_compat.torchvision.transforms import functional as F
from tandem.torch_compat.torchvision.transforms.fixed import pair_of


def _drawn(low, high):
    """A number between two."""
    return float(_C.empty(1).uniform_(float(low), float(high)).item())


def _drawn_integer(count):
    """A whole number from 0 to count - 1."""
    return int(_C.randint(0, count, (1,)).item())


class _WithChance(Module):
    """Does something with the probability p."""

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        return self.change(img) if _C.rand(1).item() < self.p else img

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p})"


class RandomHorizontalFlip(_WithChance):
    """Exchanges left and right with the probability p."""

    def change(self, img):
        return F.hflip(img)


class RandomVerticalFlip(_WithChance):
    """Exchanges top and bottom with the probability p."""

    def change(self, img):
        return F.vflip(img)


class RandomGrayscale(_WithChance):
    """Takes away the colours with the probability p."""

    def __init__(self, p=0.1):
        super().__init__(p)

    def change(self, img):
        return F.to_grayscale(img, F.get_image_num_channels(img))


class RandomApply(Module):
    """Several transforms together, with the probability p."""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, img):
        if self.p < _C.rand(1).item():
            return img
        for transform in self.transforms:
            img = transform(img)
        return img


class RandomChoice:
    """One of several transforms."""

    def __init__(self, transforms, p=None):
        self.transforms = transforms
        self.weights = _C.tensor([1.0] * len(transforms) if p is None else list(p))

    def __call__(self, img):
        return self.transforms[int(_C.multinomial(self.weights, 1).item())](img)


class RandomOrder:
    """Several transforms, in an order by chance."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for number in _C.randperm(len(self.transforms)).tolist():
            img = self.transforms[number](img)
        return img


class RandomCrop(Module):
    """A part of a given size, at a place by chance; of a picture that is padded first."""

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size, self.padding, self.pad_if_needed, self.fill, self.padding_mode = (
            pair_of(size),
            padding,
            pad_if_needed,
            fill,
            padding_mode,
        )

    @staticmethod
    def get_params(img, output_size):
        """(top, left, height, width) of the part."""
        _, whole_height, whole_width = F.get_dimensions(img)
        height, width = output_size
        if whole_height < height or whole_width < width:
            raise ValueError(f"Required crop size {(height, width)} is larger than input image size {(whole_height, whole_width)}")
        if (whole_height, whole_width) == (height, width):
            return 0, 0, height, width
        top = _drawn_integer(whole_height - height + 1)
        left = _drawn_integer(whole_width - width + 1)
        return top, left, height, width

    def forward(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        _, height, width = F.get_dimensions(img)
        if self.pad_if_needed and width < self.size[1]:
            img = F.pad(img, [self.size[1] - width, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and height < self.size[0]:
            img = F.pad(img, [0, self.size[0] - height], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def __repr__(self):
        return f"RandomCrop(size={self.size}, padding={self.padding})"


class RandomResizedCrop(Module):
    """A part whose share of the area and whose form are drawn, at a given size."""

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=F.InterpolationMode.BILINEAR, antialias=True):
        super().__init__()
        self.size, self.scale, self.ratio, self.interpolation, self.antialias = pair_of(size), scale, ratio, interpolation, antialias

    @staticmethod
    def get_params(img, scale, ratio):
        """(top, left, height, width) of the part; the middle where ten draws do not fit."""
        _, whole_height, whole_width = F.get_dimensions(img)
        for _ in range(10):
            area = whole_height * whole_width * _drawn(*scale)
            form = math.exp(_drawn(math.log(ratio[0]), math.log(ratio[1])))
            width, height = int(round(math.sqrt(area * form))), int(round(math.sqrt(area / form)))
            if 0 < width <= whole_width and 0 < height <= whole_height:
                top = _drawn_integer(whole_height - height + 1)
                left = _drawn_integer(whole_width - width + 1)
                return top, left, height, width
        form = whole_width / whole_height
        height, width = whole_height, whole_width
        if form < min(ratio):
            height = int(round(width / min(ratio)))
        elif form > max(ratio):
            width = int(round(height * max(ratio)))
        return (whole_height - height) // 2, (whole_width - width) // 2, height, width

    def forward(self, img):
        return F.resized_crop(img, *self.get_params(img, self.scale, self.ratio), self.size, self.interpolation, antialias=self.antialias)

    def __repr__(self):
        return (
            f"RandomResizedCrop(size={self.size}, scale={tuple(round(s, 4) for s in self.scale)}, "
            f"ratio={tuple(round(r, 4) for r in self.ratio)}, "
            f"interpolation={self.interpolation.value}, antialias={self.antialias})"
        )


def _bounds(value, name, lengths):
    """The numbers between which is drawn: of one number those around 0."""
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        return [-float(value), float(value)]
    if len(value) not in lengths:
        raise ValueError(f"{name} should be a sequence of length {' or '.join(map(str, lengths))}.")
    return [float(bound) for bound in value]


class RandomRotation(Module):
    """Turned by an angle between -degrees and degrees, or between two."""

    def __init__(self, degrees, interpolation=F.InterpolationMode.NEAREST, expand=False, center=None, fill=0):
        super().__init__()
        self.degrees = _bounds(degrees, "degrees", (2,))
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    def forward(self, img):
        return F.rotate(img, _drawn(*self.degrees), self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(Module):
    """Turned, moved, scaled and sheared by chance: degrees as of RandomRotation; translate: the largest parts of width and height; scale: two
    factors; shear: degrees along x, or two or four bounds along x and y."""

    def __init__(self, degrees, translate=None, scale=None, shear=None, interpolation=F.InterpolationMode.NEAREST, fill=0, center=None):
        super().__init__()
        self.degrees = _bounds(degrees, "degrees", (2,))
        if translate is not None and not all(0.0 <= part <= 1.0 for part in translate):
            raise ValueError("translation values should be between 0 and 1")
        if scale is not None and not all(factor > 0 for factor in scale):
            raise ValueError("scale values should be positive")
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else _bounds(shear, "shear", (2, 4))
        self.interpolation, self.fill, self.center = interpolation, fill, center

    @staticmethod
    def get_params(degrees, translate, scale_ranges, shears, img_size):
        """Angle, (x, y) of the move in pixels, factor and shears, drawn."""
        angle = _drawn(*degrees)
        moved = (0, 0)
        if translate is not None:
            moved = tuple(int(round(_drawn(-float(part * size), float(part * size)))) for part, size in zip(translate, img_size))
        factor = 1.0 if scale_ranges is None else _drawn(*scale_ranges)
        shear = (0.0, 0.0)
        if shears is not None:
            shear = (_drawn(*shears[:2]), _drawn(*shears[2:]) if len(shears) == 4 else 0.0)
        return angle, moved, factor, shear

    def forward(self, img):
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, F.get_image_size(img))
        fill = self.fill
        if not F.is_picture(img) and isinstance(fill, (int, float)):
            fill = [float(fill)] * img.shape[-3]
        return F.affine(img, *drawn, interpolation=self.interpolation, fill=fill, center=self.center)


class GaussianBlur(Module):
    """Blurred by a bell over kernel_size pixels whose width is drawn between two, or is one number."""

    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        super().__init__()
        self.kernel_size = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size) * (2 // max(len(kernel_size), 1))
        if len(self.kernel_size) != 2:
            raise ValueError("Kernel size should be a tuple/list of two integers")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        self.sigma = (float(sigma), float(sigma)) if isinstance(sigma, (int, float)) else tuple(sigma)
        if len(self.sigma) != 2:
            raise ValueError("sigma should be a single number or a list/tuple with length 2.")
        if not 0.0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {self.sigma}")

    @staticmethod
    def get_params(sigma_min, sigma_max):
        """The width, drawn."""
        return _drawn(sigma_min, sigma_max)

    def forward(self, img):
        width = self.get_params(*self.sigma)
        return F.gaussian_blur(img, self.kernel_size, [width, width])

    def __repr__(self):
        return f"GaussianBlur(kernel_size={self.kernel_size}, sigma={self.sigma})"


class ColorJitter(Module):
    """Other brightness, contrast, saturation and hue, in an order by chance. A number stands for what is around 1, of hue around 0."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self.brightness, self.contrast = self._range(brightness, "brightness"), self._range(contrast, "contrast")
        self.saturation, self.hue = self._range(saturation, "saturation"), self._range(hue, "hue", 0, (-0.5, 0.5))

    @staticmethod
    def _range(value, name, center=1.0, bound=(0, math.inf)):
        """The factors between which is drawn; None where there is nothing to do."""
        if isinstance(value, (int, float)):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative.")
            low = max(center - value, 0.0) if center else -float(value)
            value = (low, float(center + value))
        elif not isinstance(value, (tuple, list)) or len(value) != 2:
            raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
        value = tuple(float(factor) for factor in value)
        if not bound[0] <= value[0] <= value[1] <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {list(value)}.")
        return None if value == (center, center) else value

    @staticmethod
    def get_params(brightness, contrast, saturation, hue):
        """The order of the four changes by their numbers, and their factors."""
        order = _C.randperm(4)
        return order, *(None if factors is None else _drawn(*factors) for factors in (brightness, contrast, saturation, hue))

    def forward(self, img):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        changes = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for number in order.tolist():
            if factors[number] is not None:
                img = changes[number](img, factors[number])
        return img

    def __repr__(self):
        return f"ColorJitter(brightness={self.brightness}, contrast={self.contrast}, saturation={self.saturation}, hue={self.hue})"


class RandomErasing(Module):
    """Overwrites a rectangle by chance, with the probability p; tensors only."""

    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False):
        super().__init__()
        self.p, self.scale, self.ratio, self.value, self.inplace = p, scale, ratio, value, inplace

    def forward(self, img):
        if _C.rand(1).item() >= self.p:
            return img
        channels, whole_height, whole_width = img.shape[-3:]
        for _ in range(10):
            area = whole_height * whole_width * _drawn(*self.scale)
            form = math.exp(_drawn(math.log(self.ratio[0]), math.log(self.ratio[1])))
            height, width = int(round(math.sqrt(area * form))), int(round(math.sqrt(area / form)))
            if height < whole_height and width < whole_width:
                value = (
                    _C.randn(channels, height, width)
                    if self.value == "random"
                    else _C.tensor(self.value, dtype=_C.float32).reshape(-1, 1, 1)
                )
                top = _drawn_integer(whole_height - height + 1)
                left = _drawn_integer(whole_width - width + 1)
                return F.erase(img, top, left, height, width, value.to(img.device, img.dtype), self.inplace)
        return img
