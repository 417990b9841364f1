"""torchvision.io.image: reads pictures, and writes PNG."""

import enum

from tandem import _C
from tandem.torch_compat.torchvision import picture


class ImageReadMode(enum.Enum):
    """The channels of a picture that is read."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


def read_image(path, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """The picture in a file, uint8 (channels, height, width)."""
    mode = ImageReadMode[mode.upper()] if isinstance(mode, str) else mode
    wanted = {ImageReadMode.UNCHANGED: None, ImageReadMode.GRAY: "L", ImageReadMode.RGB: "RGB", ImageReadMode.RGB_ALPHA: "RGBA"}
    if mode not in wanted:
        raise NotImplementedError(f"read_image: {mode}")
    return picture.to_tensor(picture.read_picture(path, wanted[mode]))


def write_png(input, filename, compression_level=6):
    """Writes uint8 (channels, height, width) as a PNG."""
    if input.dtype is not _C.uint8:
        raise RuntimeError(f"Input tensor dtype should be uint8. Got {input.dtype}")
    picture.from_tensor(input).save(filename, format="PNG")
