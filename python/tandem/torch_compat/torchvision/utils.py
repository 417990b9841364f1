"""torchvision.utils: many pictures in one, and pictures into files."""

import math

from tandem import _C
from tandem.torch_compat.torchvision.picture import from_tensor


def make_grid(tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0):
    """Pictures (number, channels, height, width) side by side as one, `nrow` to a row, with a margin about each.

    normalize: the numbers of value_range, or of their own range, become those from 0 to 1; with scale_each picture by picture.
    """
    if not isinstance(tensor, _C.Tensor):
        if not (isinstance(tensor, list) and all(isinstance(t, _C.Tensor) for t in tensor)):
            raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
        tensor = _C.stack(tensor, 0)
    tensor = tensor.detach()
    if tensor.dim() == 2:
        tensor = tensor.unsqueeze(0)
    if tensor.dim() == 3:
        tensor = tensor.unsqueeze(0)
    if tensor.shape[1] == 1:
        tensor = _C.cat([tensor] * 3, 1)
    if normalize:

        def scaled(part):
            low, high = value_range if value_range is not None else (float(part.min()), float(part.max()))
            return part.clamp(low, high).sub(low).div(max(high - low, 1e-5))

        tensor = _C.stack([scaled(part) for part in tensor.unbind(0)]) if scale_each else scaled(tensor)
    count, channels, height, width = tensor.shape
    if count == 1:
        return tensor.squeeze(0)
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    height, width = height + padding, width + padding
    grid = _C.full((channels, height * rows + padding, width * columns + padding), pad_value, dtype=tensor.dtype, device=tensor.device)
    for number in range(count):
        row, column = divmod(number, columns)
        grid[:, row * height + padding : (row + 1) * height, column * width + padding : (column + 1) * width] = tensor[number]
    return grid


def save_image(tensor, fp, format=None, **kwargs):
    """Writes pictures, numbers from 0 to 1, as one picture file; kwargs are make_grid's. Without Pillow a PNG."""
    grid = make_grid(tensor, **kwargs)
    picture = from_tensor(grid.mul(255).add(0.5).clamp(0, 255).to("cpu", _C.uint8))
    picture.save(fp, format=format)
