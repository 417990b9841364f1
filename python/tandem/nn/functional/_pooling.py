"""Pooling. Where PyTorch takes `return_indices`, the call goes to the operation with or without them."""

from tandem import _C

avg_pool1d = _C.avg_pool1d
avg_pool2d = _C.avg_pool2d
avg_pool3d = _C.avg_pool3d
adaptive_avg_pool1d = _C.adaptive_avg_pool1d
adaptive_avg_pool2d = _C.adaptive_avg_pool2d
adaptive_avg_pool3d = _C.adaptive_avg_pool3d
lp_pool1d = _C.lp_pool1d
lp_pool2d = _C.lp_pool2d
lp_pool3d = _C.lp_pool3d


def _max_pool(dimensions):
    plain, with_indices = getattr(_C, f"max_pool{dimensions}d"), getattr(_C, f"max_pool{dimensions}d_with_indices")

    def max_pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        if return_indices:
            return tuple(with_indices(input, kernel_size, stride, padding, dilation, ceil_mode))
        return plain(input, kernel_size, stride, padding, dilation, ceil_mode)

    def max_pool_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return tuple(with_indices(input, kernel_size, stride, padding, dilation, ceil_mode))

    return _named(max_pool, f"max_pool{dimensions}d", "The largest element of each window, and with `return_indices` its place."), _named(
        max_pool_with_indices, f"max_pool{dimensions}d_with_indices", "The largest element of each window and its place."
    )


def _adaptive_max_pool(dimensions):
    plain = getattr(_C, f"adaptive_max_pool{dimensions}d")
    with_indices = getattr(_C, f"adaptive_max_pool{dimensions}d_with_indices")

    def adaptive_max_pool(input, output_size, return_indices=False):
        return tuple(with_indices(input, output_size)) if return_indices else plain(input, output_size)

    def adaptive_max_pool_with_indices(input, output_size, return_indices=False):
        return tuple(with_indices(input, output_size))

    text = "The largest element of each window, as many windows as `output_size` says"
    return _named(adaptive_max_pool, f"adaptive_max_pool{dimensions}d", text + ", and with `return_indices` its place."), _named(
        adaptive_max_pool_with_indices, f"adaptive_max_pool{dimensions}d_with_indices", text + ", and its place."
    )


def _max_unpool(dimensions):
    operation = getattr(_C, f"max_unpool{dimensions}d")

    def max_unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        if output_size is None:
            return operation(input, indices, kernel_size, stride, padding)
        return operation(input, indices, kernel_size, stride, padding, output_size=tuple(output_size))

    return _named(max_unpool, f"max_unpool{dimensions}d", "Puts pooled elements back to the places that `indices` names; zeros elsewhere.")


def _fractional_max_pool(dimensions):
    name = f"fractional_max_pool{dimensions}d"
    operation = getattr(_C, f"{name}_with_indices")

    def with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is not None:
            output_ratio = None
        elif isinstance(output_ratio, (int, float)):
            output_ratio = (output_ratio,)
        return tuple(operation(input, kernel_size, output_size=output_size, output_ratio=output_ratio, random_samples=_random_samples))

    def pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        result = with_indices(input, kernel_size, output_size, output_ratio, return_indices, _random_samples)
        return result if return_indices else result[0]

    text = "The largest element of each window; there are `output_size` of them, or `output_ratio` of the input's size"
    return _named(pool, name, text + "; with `return_indices` its place."), _named(
        with_indices, f"{name}_with_indices", text + ", and its place."
    )


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)
adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max_pool(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max_pool(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max_pool(3)
max_unpool1d, max_unpool2d, max_unpool3d = _max_unpool(1), _max_unpool(2), _max_unpool(3)
fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional_max_pool(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional_max_pool(3)
