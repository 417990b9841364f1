"""Fractional max pooling: B. Graham, "Fractional max-pooling" (2014). Windows of one size whose places are drawn."""

import math

from tandem import _C
from tandem.nn.functional._pooling import _named


def _numbers(value, count):
    return (value,) * count if isinstance(value, (int, float)) else tuple(value)


def _starts(samples, size, output, kernel):
    """Where the windows of each plane begin along one dimension; the last ends at the edge."""
    if output == 1:
        return _C.full((*samples.shape, 1), size - kernel, dtype=_C.int64, device=samples.device)
    step = (size - kernel) / (output - 1)
    places = _C.arange(output, dtype=samples.dtype, device=samples.device)
    starts = ((places + samples.unsqueeze(-1)) * step).long() - (samples.unsqueeze(-1) * step).long()
    starts[..., -1] = size - kernel
    return starts


def _fractional_max_pool(count):
    name = f"fractional_max_pool{count}d"

    def with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if input.dim() not in (count + 1, count + 2):
            raise RuntimeError(f"{name}: Expected {count + 1}D or {count + 2}D tensor, but got: {list(input.shape)}")
        x = input if input.dim() == count + 2 else input.unsqueeze(0)
        sizes, kernel = tuple(x.shape[2:]), _numbers(kernel_size, count)
        if output_size is None:
            output = tuple(int(size * ratio) for size, ratio in zip(sizes, _numbers(output_ratio, count)))
        else:
            output = _numbers(output_size, count)
        for side, size, out, width in zip(("time", "height", "width")[-count:], sizes, output, kernel):
            if out + width - 1 > size:
                raise RuntimeError(
                    f"{name}(): pool {side} {width} too large relative to input {side} {size}: there is no room for {out} windows"
                )
        planes = tuple(x.shape[:2])
        if _random_samples is None:
            _random_samples = _C.rand((*planes, count), dtype=x.dtype, device=x.device)
        # PyTorch's samples of two dimensions are those of the width first.
        samples = (_random_samples.flip(-1) if count == 2 else _random_samples).reshape((*planes, count))
        places = _C.zeros((*planes, *[1] * 2 * count), dtype=_C.int64, device=x.device)
        for d in range(count):
            starts = _starts(samples[..., d], sizes[d], output[d], kernel[d])
            inside = starts.unsqueeze(-1) + _C.arange(kernel[d], device=x.device)
            shape = [1] * 2 * count
            shape[d], shape[count + d] = output[d], kernel[d]
            places = places + inside.reshape((*planes, *shape)) * math.prod(sizes[d + 1 :])
        places = places.reshape((*planes, math.prod(output), math.prod(kernel)))
        values = x.reshape((*planes, -1)).gather(2, places.reshape((*planes, -1))).reshape(places.shape)
        largest, which = _C.max(values, -1)
        indices = places.gather(-1, which.unsqueeze(-1)).squeeze(-1)
        result = largest.reshape((*planes, *output)), indices.reshape((*planes, *output))
        return result if input.dim() == count + 2 else tuple(one.squeeze(0) for one in result)

    def pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        result = with_indices(input, kernel_size, output_size, output_ratio, return_indices, _random_samples)
        return result if return_indices else result[0]

    text = "The largest element of each window; there are `output_size` of them, or `output_ratio` of the input's size"
    return _named(pool, name, text + "; with `return_indices` its place."), _named(
        with_indices, f"{name}_with_indices", text + ", and its place."
    )


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional_max_pool(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional_max_pool(3)
