"""torchvision.transforms.functional: what the transforms do, for pictures and for tensors (..., channels, height, width)."""

import enum
import functools

from tandem import _C
from tandem.nn import functional as F
from tandem.torch_compat.torchvision.transforms import _pil, _warps
from tandem.torch_compat.torchvision.picture import from_tensor, is_picture, to_tensor as pixels_of


class InterpolationMode(enum.Enum):
    """How the pixels between are found."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"


_PIL_MODES = {0: InterpolationMode.NEAREST, 2: InterpolationMode.BILINEAR, 3: InterpolationMode.BICUBIC}


def _also_pictures(function, of_pil=None):
    """Lets a function of tensors take pictures too, and give a picture then; PIL's by `of_pil`, where that is given."""

    @functools.wraps(function)
    def either(img, *args, **kwargs):
        if of_pil and _pil.is_pil(img):
            return of_pil(img, *args, **kwargs)
        if is_picture(img):
            return from_tensor(function(pixels_of(img), *args, **kwargs))
        if not isinstance(img, _C.Tensor):
            raise TypeError(f"Unexpected type {type(img)}")
        return function(img, *args, **kwargs)

    return either


def _pictures_by(of_pil):
    """_also_pictures, with a function of PIL's pictures."""
    return lambda function: _also_pictures(function, of_pil)


def _as_float(function):
    """Lets a function of floating pixels take uint8 ones too: the results are rounded, and kept within 0 and 255."""

    @functools.wraps(function)
    def either(img, *args, **kwargs):
        if img.is_floating_point():
            return function(img, *args, **kwargs)
        return function(img.float(), *args, **kwargs).round().clamp(0, 255).to(img.dtype)

    return either


def get_image_size(img):
    """[width, height]."""
    return list(img.size) if is_picture(img) else [img.shape[-1], img.shape[-2]]


def get_dimensions(img):
    """[channels, height, width]."""
    width, height = get_image_size(img)
    return [len(img.getbands()) if is_picture(img) else img.shape[-3], height, width]


def get_image_num_channels(img):
    """How many channels it has."""
    return get_dimensions(img)[0]


def to_tensor(pic):
    """A picture or an array (height, width, channels) as a tensor (channels, height, width); bytes become numbers from 0 to 1."""
    if is_picture(pic):
        pixels = pixels_of(pic)
    elif type(pic).__module__ == "numpy" and hasattr(pic, "ndim"):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        made = _C.as_tensor(pic)
        pixels = (made.unsqueeze(0) if made.dim() == 2 else made.permute(2, 0, 1)).contiguous()
    else:
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    return pixels.to(_C.get_default_dtype()).div(255) if pixels.dtype is _C.uint8 else pixels


def pil_to_tensor(pic):
    """A picture as a tensor of bytes (channels, height, width)."""
    if not is_picture(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    return pixels_of(pic)


def to_pil_image(pic, mode=None):
    """A picture of a tensor (channels, height, width), floating from 0 to 1 or of bytes, or of an array (height, width, channels)."""
    if not isinstance(pic, _C.Tensor):
        if not (type(pic).__module__ == "numpy" and hasattr(pic, "ndim")):
            raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
        pic = _C.as_tensor(pic)
        pic = pic if pic.dim() == 2 else pic.permute(2, 0, 1)
    if pic.dim() not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.dim()} dimensions.")
    if pic.is_floating_point():
        pic = pic.detach().mul(255)
    made = from_tensor(pic.to(_C.uint8))
    return made if mode is None or mode == made.mode else made.convert(mode)


def convert_image_dtype(image, dtype=_C.float32):
    """The same picture in numbers of another dtype: floating ones go from 0 to 1, bytes from 0 to 255."""
    if image.dtype is dtype:
        return image
    if image.is_floating_point():
        return image.to(dtype) if dtype.is_floating_point else image.mul(255 + 1 - 1e-3).to(dtype)
    return image.to(dtype).div(255) if dtype.is_floating_point else image.to(dtype)


def normalize(tensor, mean, std, inplace=False):
    """(tensor - mean) / std, channel by channel."""
    if not isinstance(tensor, _C.Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.dim() < 3:
        raise ValueError(f"Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = {tensor.size()}")
    mean, std = (_C.as_tensor(values, dtype=tensor.dtype, device=tensor.device).reshape(-1, 1, 1) for values in (mean, std))
    if bool((std == 0).any()):
        raise ValueError(f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero.")
    return (tensor if inplace else tensor.clone()).sub_(mean).div_(std)


def _size_after(height, width, size, max_size):
    """(height, width) after resize: of two numbers those, of one the shorter side's."""
    if isinstance(size, int):
        size = (size,)
    if len(size) == 2:
        return tuple(size)
    short, long = sorted((height, width))
    new_short, new_long = size[0], int(size[0] * long / short)
    if max_size is not None and new_long > max_size:
        new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if height > width else (new_short, new_long)


def _resize_pil(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    height, width = _size_after(img.height, img.width, size, max_size)
    return img if (height, width) == (img.height, img.width) else _pil.resize(img, height, width, interpolation)


@_pictures_by(_resize_pil)
def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """At another size: (height, width), or one number for the shorter side."""
    target = _size_after(img.shape[-2], img.shape[-1], size, max_size)
    if target == tuple(img.shape[-2:]):
        return img
    mode = _mode_of(interpolation)
    smooth = mode in (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC)
    batch = img.reshape(-1, *img.shape[-3:])
    scaled = _as_float(F.interpolate)(
        batch, size=target, mode=mode.value, **({"align_corners": False, "antialias": bool(antialias)} if smooth else {})
    )
    return scaled.reshape(*img.shape[:-2], *target)


@_also_pictures
def crop(img, top, left, height, width):
    """The part of this place and size; outside the picture are zeros."""
    whole_height, whole_width = img.shape[-2:]
    part = img[..., max(top, 0) : max(min(top + height, whole_height), 0), max(left, 0) : max(min(left + width, whole_width), 0)]
    missing = (max(-left, 0), max(left + width - whole_width, 0), max(-top, 0), max(top + height - whole_height, 0))
    return F.pad(part, missing) if any(missing) else part


def center_crop(img, output_size):
    """The middle, (height, width); outside the picture are zeros."""
    height, width = (output_size, output_size) if isinstance(output_size, int) else (output_size * 2)[:2]
    whole_width, whole_height = get_image_size(img)
    if height > whole_height or width > whole_width:
        left, top = max((width - whole_width) // 2, 0), max((height - whole_height) // 2, 0)
        right, bottom = max((width - whole_width + 1) // 2, 0), max((height - whole_height + 1) // 2, 0)
        img = pad(img, [left, top, right, bottom])
        whole_width, whole_height = get_image_size(img)
    return crop(img, int(round((whole_height - height) / 2)), int(round((whole_width - width) / 2)), height, width)


def resized_crop(img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True):
    """A part, at another size."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


@_also_pictures
def pad(img, padding, fill=0, padding_mode="constant"):
    """Wider by `padding`: one number, [left and right, top and bottom], or [left, top, right, bottom].

    padding_mode: constant, edge, reflect or symmetric.
    """
    sides = [padding] * 4 if isinstance(padding, int) else list(padding)
    if len(sides) not in (1, 2, 4):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(sides)} element tuple")
    left, top, right, bottom = sides * (4 // len(sides))
    if padding_mode == "constant":
        value = fill[0] if isinstance(fill, (tuple, list)) else fill
        return F.pad(img, (left, right, top, bottom), value=value)
    modes = {"edge": "replicate", "reflect": "reflect"}
    if padding_mode == "symmetric":
        for dim, before, after in ((-1, left, right), (-2, top, bottom)):
            length = img.shape[dim]
            img = _C.cat([img.narrow(dim, 0, before).flip(dim), img, img.narrow(dim, length - after, after).flip(dim)], dim)
        return img
    if padding_mode not in modes:
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    batch = img.reshape(-1, *img.shape[-3:])
    wider = _as_float(F.pad)(batch, (left, right, top, bottom), mode=modes[padding_mode])
    return wider.reshape(*img.shape[:-2], *wider.shape[-2:])


@_also_pictures
def hflip(img):
    """Left and right exchanged."""
    return img.flip(-1)


@_also_pictures
def vflip(img):
    """Top and bottom exchanged."""
    return img.flip(-2)


def _rotate_pil(img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None):
    return _pil.rotate(img, angle, interpolation, expand, center, fill)


@_pictures_by(_rotate_pil)
def rotate(img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None):
    """Turned against the clock by `angle` degrees about its middle or `center`, (x, y); outside the picture is `fill`, 0 without it. `expand`
    makes the result large enough for all of it."""
    height, width = img.shape[-2:]
    middle = (0.0, 0.0) if center is None else (center[0] - 0.5 * width, center[1] - 0.5 * height)
    matrix = _warps.inverse_matrix(middle, -angle, (0.0, 0.0), 1.0, (0.0, 0.0))
    size = _warps.size_of_all(matrix, width, height) if expand else (width, height)
    return _warps.warp(img, matrix, _mode_of(interpolation), fill, *size)


def _mode_of(interpolation):
    """The interpolation of a number of PIL's, or the one that it is."""
    return _PIL_MODES[interpolation] if isinstance(interpolation, int) else interpolation


def _affine_pil(img, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None):
    _check_affine(translate, scale, shear)
    middle = (img.width * 0.5, img.height * 0.5) if center is None else center
    return _pil.transform(img, _warps.inverse_matrix(middle, angle, translate, scale, _shear_of(shear)), interpolation, fill)


def _check_affine(translate, scale, shear):
    if len(translate) != 2:
        raise ValueError("translate should be a list or tuple of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if not isinstance(shear, (int, float)) and len(shear) not in (1, 2):
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")


def _shear_of(shear):
    """Degrees along x and y."""
    return (float(shear), 0.0) if isinstance(shear, (int, float)) else (float(shear[0]), float(shear[1]) if len(shear) == 2 else float(shear[0]))


@_pictures_by(_affine_pil)
def affine(img, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None):
    """Turned with the clock by degrees, scaled, sheared by degrees and moved by (x, y) pixels, about its middle or `center`."""
    _check_affine(translate, scale, shear)
    height, width = img.shape[-2:]
    middle = (0.0, 0.0) if center is None else (center[0] - 0.5 * width, center[1] - 0.5 * height)
    matrix = _warps.inverse_matrix(middle, angle, [float(pixels) for pixels in translate], scale, _shear_of(shear))
    return _warps.warp(img, matrix, _mode_of(interpolation), fill, width, height)


@_also_pictures
def gaussian_blur(img, kernel_size, sigma=None):
    """Blurred by a bell: kernel_size is odd numbers of pixels, (x, y) or one for both; sigma is its widths, chosen by the size without it."""
    kernel = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size) * (2 // len(kernel_size))
    for size in kernel:
        if size % 2 == 0 or size < 0:
            raise ValueError(f"kernel_size should have odd and positive integers. Got {kernel}")
    sigma = [size * 0.15 + 0.35 for size in kernel] if sigma is None else [float(sigma)] * 2 if isinstance(sigma, (int, float)) else list(sigma) * (2 // len(sigma))
    for width in sigma:
        if width <= 0.0:
            raise ValueError(f"sigma should have positive values. Got {sigma}")
    return _warps.blur(img, kernel, sigma)


def _gray(img):
    red, green, blue = (channel.float() if not channel.is_floating_point() else channel for channel in img.unbind(-3))
    return (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype).unsqueeze(-3)


def to_grayscale(img, num_output_channels=1):
    """Without colours, in 1 or 3 channels."""
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if is_picture(img):
        gray = img.convert("L")
        return gray if num_output_channels == 1 else gray.convert("RGB")
    if not isinstance(img, _C.Tensor):
        raise TypeError(f"Unexpected type {type(img)}")
    gray = _gray(img) if img.shape[-3] == 3 else img
    return _C.cat([gray] * 3, -3) if num_output_channels == 3 else gray


rgb_to_grayscale = to_grayscale


def _blend(first, second, share, img):
    """share of the first, the rest of the second, within the numbers that pixels have."""
    return (share * first + (1 - share) * second).clamp(0, 1 if img.is_floating_point() else 255).to(img.dtype)


@_pictures_by(lambda img, brightness_factor: _pil.enhance(img, "Brightness", brightness_factor))
def adjust_brightness(img, brightness_factor):
    """Brighter by a factor; 0 is black, 1 the picture."""
    return _blend(img.float(), _C.zeros_like(img, dtype=_C.float32), brightness_factor, img)


@_pictures_by(lambda img, contrast_factor: _pil.enhance(img, "Contrast", contrast_factor))
def adjust_contrast(img, contrast_factor):
    """0 is the mean grey, 1 the picture."""
    gray = _gray(img) if img.shape[-3] == 3 else img
    return _blend(img.float(), gray.float().mean((-3, -2, -1), keepdim=True), contrast_factor, img)


@_pictures_by(lambda img, saturation_factor: _pil.enhance(img, "Color", saturation_factor))
def adjust_saturation(img, saturation_factor):
    """0 is without colours, 1 the picture."""
    return img if img.shape[-3] == 1 else _blend(img.float(), _gray(img).float(), saturation_factor, img)


def _hue_of(red, green, blue, high, span):
    """The place on the circle of colours, from 0 to 1; 0 where there is none."""
    step = _C.where(span == 0, _C.ones_like(span), span)
    of_red, of_green, of_blue = (green - blue) / step, 2 + (blue - red) / step, 4 + (red - green) / step
    sixths = _C.where(high == red, of_red, _C.where(high == green, of_green, of_blue))
    return (sixths / 6) % 1


def _adjust_hue_pil(img, hue_factor):
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    return _pil.hue(img, hue_factor)


@_pictures_by(_adjust_hue_pil)
def adjust_hue(img, hue_factor):
    """The colours turned on their circle by a factor from -0.5 to 0.5; grey pictures stay as they are."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if img.shape[-3] == 1:
        return img
    red, green, blue = convert_image_dtype(img, _C.float32).unbind(-3)
    high, low = _C.maximum(_C.maximum(red, green), blue), _C.minimum(_C.minimum(red, green), blue)
    turned = ((_hue_of(red, green, blue, high, high - low) + hue_factor) % 1) * 6
    # A channel is the highest within a sixth of the circle of its own colour, and the lowest on the other side of it.
    channels = [high - (high - low) * (((turned - place + 3) % 6 - 3).abs() - 1).clamp(0, 1) for place in (0, 2, 4)]
    return convert_image_dtype(_C.stack(channels, -3), img.dtype)


def erase(img, i, j, h, w, v, inplace=False):
    """The rectangle at row i, column j has the value v."""
    made = img if inplace else img.clone()
    made[..., i : i + h, j : j + w] = v
    return made
