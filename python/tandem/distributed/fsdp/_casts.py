"""Tensors of floating point in another dtype, within nested values."""

from tandem import _C


def cast_floating(value, dtype):
    """The same with every tensor of floating point in the dtype."""
    if isinstance(value, _C.Tensor):
        return value.to(dtype) if value.is_floating_point() and value.dtype != dtype else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(cast_floating(item, dtype) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(cast_floating(item, dtype) for item in value)
    if isinstance(value, dict):
        return type(value)((key, cast_floating(item, dtype)) for key, item in value.items())
    return value
