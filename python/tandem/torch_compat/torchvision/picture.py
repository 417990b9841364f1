"""Pictures: PIL's where it is installed, else a small class in its place; and the way to tensors and back."""

import struct
import zlib

from tandem import _C

try:
    from PIL import Image
except ImportError:
    Image = None

_CHANNELS = {"L": 1, "RGB": 3, "RGBA": 4, "1": 1}


class Picture:
    """A picture without PIL: its mode is L, RGB or RGBA, its pixels are a uint8 tensor (height, width) or (height, width, channels)."""

    def __init__(self, pixels):
        self.pixels = pixels
        self.mode = "L" if pixels.dim() == 2 else {3: "RGB", 4: "RGBA"}[pixels.shape[2]]

    height = property(lambda self: self.pixels.shape[0])
    width = property(lambda self: self.pixels.shape[1])
    size = property(lambda self: (self.width, self.height))

    def getbands(self):
        """The letters of its channels."""
        return tuple(self.mode)

    def convert(self, mode):
        """The picture in another mode: L or RGB."""
        if mode == self.mode:
            return self.copy()
        if mode == "RGB":
            return Picture(self.pixels[:, :, :3].clone() if self.mode == "RGBA" else _C.stack([self.pixels] * 3, dim=2))
        if mode == "L":
            weights = _C.tensor([19595, 38470, 7471])  # 0.299, 0.587 and 0.114 of 65536, as PIL has them
            return Picture((((self.pixels[:, :, :3].long() * weights).sum(2) + 32768) >> 16).to(_C.uint8))
        raise NotImplementedError(f"Picture.convert: mode '{mode}' (install Pillow)")

    def copy(self):
        """A picture with pixels of its own."""
        return Picture(self.pixels.clone())

    def crop(self, box):
        """The part between (left, upper, right, lower)."""
        left, upper, right, lower = box
        return Picture(self.pixels[upper:lower, left:right].clone())

    def resize(self, size, resample=None):
        """The picture at another (width, height), smoothed."""
        from tandem.torch_compat.torchvision.transforms import functional

        return functional.resize(self, (size[1], size[0]))

    def getpixel(self, place):
        """The value at (x, y): a number, or a tuple of one for each channel."""
        value = self.pixels[place[1], place[0]].tolist()
        return tuple(value) if isinstance(value, list) else value

    def tobytes(self):
        """The pixels, row by row."""
        return bytes(memoryview(self.pixels.contiguous().reshape(-1)))

    def save(self, fp, format=None):
        """Writes a PNG, to a path or a file."""
        data = _png(self)
        if hasattr(fp, "write"):
            fp.write(data)
        else:
            with open(fp, "wb") as file:
                file.write(data)

    def _repr_png_(self):
        return _png(self)

    def __array__(self, dtype=None, copy=None):
        return self.pixels.numpy() if dtype is None else self.pixels.numpy().astype(dtype)

    def __eq__(self, other):
        return (
            isinstance(other, Picture) and self.mode == other.mode and self.size == other.size and bool((self.pixels == other.pixels).all())
        )

    __hash__ = None

    def __repr__(self):
        return f"<Picture mode={self.mode} size={self.width}x{self.height}>"


def _png(picture):
    """A picture as the bytes of a PNG file."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    channels = _CHANNELS[picture.mode]
    row, data = picture.width * channels, picture.tobytes()
    lines = b"".join(b"\0" + data[start : start + row] for start in range(0, len(data), row))
    head = struct.pack(">IIBBBBB", picture.width, picture.height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def is_picture(value):
    """Whether it is a picture of PIL's or one that stands in for it."""
    return isinstance(value, Picture) or (Image is not None and isinstance(value, Image.Image))


def to_tensor(picture):
    """The pixels, uint8 (channels, height, width)."""
    if isinstance(picture, Picture):
        pixels = picture.pixels
    else:
        if picture.mode not in ("L", "RGB", "RGBA"):
            picture = picture.convert("L" if picture.mode == "1" else "RGB")
        shape = (picture.height, picture.width) if picture.mode == "L" else (picture.height, picture.width, _CHANNELS[picture.mode])
        pixels = _C.frombuffer(bytearray(picture.tobytes()), dtype=_C.uint8).reshape(shape)
    return (pixels.unsqueeze(0) if pixels.dim() == 2 else pixels.permute(2, 0, 1)).contiguous()


def from_tensor(pixels):
    """A picture of uint8 pixels (channels, height, width) or (height, width)."""
    if pixels.dim() == 3:
        if pixels.shape[0] not in (1, 3, 4):
            raise ValueError(
                f"pic should not have > 4 channels. Got {pixels.shape[0]} channels."
                if pixels.shape[0] > 4
                else f"a picture has 1, 3 or 4 channels, not {pixels.shape[0]}"
            )
        pixels = pixels[0] if pixels.shape[0] == 1 else pixels.permute(1, 2, 0)
    picture = Picture(pixels.cpu().contiguous())
    return picture if Image is None else Image.frombytes(picture.mode, picture.size, picture.tobytes())


def read_picture(path, mode="RGB"):
    """The picture in a file, in a mode; None: in its own."""
    if Image is not None:
        with open(path, "rb") as file:
            read = Image.open(file)
            read.load()
    elif hasattr(_C, "read_image"):
        read = from_tensor(_C.read_image(path))
    else:
        raise ImportError(f"{path}: pictures in files are read by Pillow, which is not installed: pip install pillow")
    return read if mode is None or read.mode == mode else read.convert(mode)
