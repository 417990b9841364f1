"""torchvision.io: pictures in files as tensors (channels, height, width) of bytes."""

from tandem.torch_compat.torchvision.io.image import ImageReadMode, read_image, write_png

__all__ = ["ImageReadMode", "read_image", "write_png"]
