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


def rotate(img, angle, interpolation, expand, center, fill):
    """Turned against the clock; outside of the picture is `fill`, 0 without it."""
    bands = len(img.getbands())
    if fill is not None:
        fill = tuple(fill) if isinstance(fill, (tuple, list)) else (fill,) * bands
        fill = fill * bands if len(fill) == 1 else fill
        fill = fill[0] if bands == 1 else fill
    return img.rotate(angle, _mode(interpolation), expand, center, fillcolor=fill)


def grayscale(img, channels):
    """Without colours."""
    if channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    gray = img.convert("L")
    if channels == 1:
        return gray
    from PIL import Image

    return Image.merge("RGB", (gray, gray, gray))


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

