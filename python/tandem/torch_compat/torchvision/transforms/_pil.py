"""The transforms of PIL's own pictures, by PIL itself, as torchvision has them: what it rounds is rounded the same."""

_MODES = {"nearest": 0, "nearest-exact": 0, "bilinear": 2, "bicubic": 3}


def is_pil(img):
    """Whether the picture is PIL's own."""
    return type(img).__module__.partition(".")[0] == "PIL"


def _mode(interpolation):
    return interpolation if isinstance(interpolation, int) else _MODES[interpolation.value]


def resize(img, height, width, interpolation):
    """At another size."""
    return img.resize((width, height), _mode(interpolation))


def _color(img, fill):
    """A color for what is outside, by the picture's channels."""
    if fill is None:
        return None
    bands = len(img.getbands())
    fill = tuple(fill) if isinstance(fill, (tuple, list)) else (fill,)
    return fill[0] if bands == 1 else fill * bands if len(fill) == 1 else fill


def rotate(img, angle, interpolation, expand, center, fill):
    """Turned against the clock; outside of the picture is `fill`, 0 without it."""
    return img.rotate(angle, _mode(interpolation), expand, center, fillcolor=_color(img, fill))


def transform(img, matrix, interpolation, fill):
    """The picture seen through a matrix whose origin is the left upper corner."""
    from PIL import Image

    return img.transform(img.size, Image.Transform.AFFINE, matrix, _mode(interpolation), fillcolor=_color(img, fill))


def enhance(img, what, factor):
    """PIL's Brightness, Contrast or Color by a factor."""
    from PIL import ImageEnhance

    return getattr(ImageEnhance, what)(img).enhance(factor)


def hue(img, factor):
    """The colours turned on their circle; pictures without colours stay as they are."""
    if img.mode in ("L", "1", "I", "F"):
        return img
    from PIL import Image

    turned, saturation, value = img.convert("HSV").split()
    turned = turned.point([(level + int(factor * 255)) % 256 for level in range(256)])
    return Image.merge("HSV", (turned, saturation, value)).convert(img.mode)
