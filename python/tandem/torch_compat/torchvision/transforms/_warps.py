"""Pixels moved by a matrix, for tensors (..., channels, height, width): rotations and affine maps about a centre; and Gaussian blur."""

import math

from tandem import _C
from tandem.nn import functional as F


def inverse_matrix(center, angle, translate, scale, shear):
    """The six numbers that take a place in the result to one in the source: turned by degrees, sheared, scaled, moved, about `center`."""
    turn, shear_x, shear_y = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -math.cos(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -math.sin(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(turn)
    matrix = [number / scale for number in (d, -b, 0.0, -c, a, 0.0)]
    for row in (0, 3):
        matrix[row + 2] += matrix[row] * (-center[0] - translate[0]) + matrix[row + 1] * (-center[1] - translate[1])
    matrix[2] += center[0]
    matrix[5] += center[1]
    return matrix


def size_of_all(matrix, width, height):
    """(width, height) that holds the whole picture after the map about its middle."""
    corners = _C.tensor([[-0.5 * width, -0.5 * height, 1.0], [-0.5 * width, 0.5 * height, 1.0], [0.5 * width, 0.5 * height, 1.0], [0.5 * width, -0.5 * height, 1.0]])
    places = corners @ _C.tensor(matrix).view(2, 3).T
    half, digits = _C.tensor([0.5 * width, 0.5 * height]), 1e-4
    low, high = places.amin(0) + half, places.amax(0) + half
    size = ((high / digits).trunc() * digits).ceil() - ((low / digits).trunc() * digits).floor()
    return int(size[0]), int(size[1])


def warp(img, matrix, interpolation, fill, width, height):
    """The picture seen through the matrix, whose origin is the middle; `fill` where nothing of it is, 0 without it."""
    batch = img.reshape(-1, *img.shape[-3:]).float()
    rows = _C.arange(height, dtype=_C.float32, device=img.device) + (0.5 - 0.5 * height)
    columns = _C.arange(width, dtype=_C.float32, device=img.device) + (0.5 - 0.5 * width)
    base = _C.stack([columns.expand(height, width), rows.unsqueeze(1).expand(height, width), _C.ones(height, width, device=img.device)], -1)
    theta = _C.tensor(matrix, device=img.device).view(2, 3).T / _C.tensor([0.5 * img.shape[-1], 0.5 * img.shape[-2]], device=img.device)
    grid = (base.view(-1, 3) @ theta).view(1, height, width, 2).expand(batch.shape[0], height, width, 2)
    sample = lambda pixels: F.grid_sample(pixels, grid, mode=interpolation.value, padding_mode="zeros", align_corners=False)
    moved = sample(batch)
    if fill is not None:
        inside = sample(_C.ones_like(batch[:, :1]))
        color = _C.tensor([float(value) for value in (fill if isinstance(fill, (tuple, list)) else [fill])], device=img.device).view(1, -1, 1, 1)
        moved = _C.where(inside < 0.5, color, moved) if interpolation.value == "nearest" else moved * inside + (1 - inside) * color
    if not img.is_floating_point():
        moved = moved.round().clamp(0, 255) if img.dtype == _C.uint8 else moved.round()
    return moved.to(img.dtype).reshape(*img.shape[:-2], height, width)


def blur(img, kernel_size, sigma):
    """Each pixel as the mean of those around it, weighted by a bell of widths sigma, (x, y), over kernel_size pixels."""
    bells = []
    dtype = img.dtype if img.is_floating_point() else _C.float32
    for size, width in zip(kernel_size, sigma):
        reach = (size - 1) * 0.5
        bell = _C.exp(-0.5 * (_C.linspace(-reach, reach, size, dtype=dtype, device=img.device) / width) ** 2)
        bells.append(bell / bell.sum())
    channels = img.shape[-3]
    kernel = (bells[1].unsqueeze(1) @ bells[0].unsqueeze(0)).expand(channels, 1, kernel_size[1], kernel_size[0])
    batch = img.reshape(-1, *img.shape[-3:]).to(dtype)
    sides = [kernel_size[0] // 2, kernel_size[0] // 2, kernel_size[1] // 2, kernel_size[1] // 2]
    blurred = F.conv2d(F.pad(batch, sides, mode="reflect"), kernel, groups=channels)
    blurred = blurred if img.is_floating_point() else blurred.round()
    return blurred.to(img.dtype).reshape(img.shape)
