"""Shapes, order and selection of elements, by the array API standard's names and arguments."""

import tandem
from tandem import _C
from tandem.array_api._dtypes import result_type


def broadcast_arrays(*arrays):
    """The arrays, expanded to a shape in common."""
    return tuple(_C.broadcast_tensors(list(arrays)))


def broadcast_shapes(*shapes):
    """The shape that arrays of these shapes have together."""
    try:
        return tuple(tandem.broadcast_shapes(*shapes))
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def broadcast_to(x, /, shape):
    """The array, expanded to this shape."""
    return _C.broadcast_to(x, tuple(shape))


def concat(arrays, /, *, axis=0):
    """The arrays one after another along an axis, flattened first for None; of their dtype in common."""
    dtype = result_type(*arrays)
    parts = [x.to(dtype) if axis is not None else x.to(dtype).reshape(-1) for x in arrays]
    return _C.cat(parts, 0 if axis is None else axis)


def stack(arrays, /, *, axis=0):
    """The arrays along a new axis, of their dtype in common."""
    dtype = result_type(*arrays)
    return _C.stack([x.to(dtype) for x in arrays], axis)


def unstack(x, /, *, axis=0):
    """The arrays along an axis."""
    return tuple(x.unbind(axis))


def expand_dims(x, /, axis):
    """New axes of size 1, at these places of the result."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    ndim = x.ndim + len(axes)
    places = sorted(_place(a, ndim) for a in axes)
    if len(set(places)) != len(places):
        raise ValueError(f"expand_dims: an axis is named twice in {axes}")
    for place in places:
        x = x.unsqueeze(place)
    return x


def _place(axis, ndim):
    if not -ndim <= axis < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {axis})")
    return axis % ndim


def squeeze(x, /, axis):
    """Without these axes, whose size has to be 1."""
    axes = tuple(_place(a, x.ndim) for a in ((axis,) if isinstance(axis, int) else axis))
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze: axis {a} has size {x.shape[a]}, not 1")
    return _C.squeeze(x, axes)


def flip(x, /, *, axis=None):
    """The elements in the other order along these axes, along all for None."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return _C.flip(x, tuple(axes))


def moveaxis(x, source, destination, /):
    """The axes at other places."""
    return _C.movedim(x, source, destination)


def permute_dims(x, /, axes):
    """The axes in this order."""
    return _C.permute(x, tuple(axes))


def repeat(x, repeats, /, *, axis=None):
    """Each element as often as `repeats` says, along an axis, flattened first for None."""
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    if isinstance(repeats, _C.Tensor):
        repeats = repeats.to(_C.int64).reshape(-1)
        repeats = repeats.expand(x.shape[axis]) if repeats.numel() == 1 else repeats
    return _C.repeat_interleave(x, repeats, axis)


def reshape(x, /, shape, *, copy=None):
    """Another shape. copy: True always copies, False is an error where it would have to."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if copy is False:
        try:
            return x.view(shape)
        except RuntimeError as error:
            raise ValueError(f"reshape: this shape needs a copy, and copy=False was asked for: {error}") from None
    return _C.reshape(x.clone() if copy else x, shape)


def roll(x, /, shift, *, axis=None):
    """The elements moved by `shift` places along these axes, over the end to the beginning."""
    if axis is None:
        return _C.roll(x, shift)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    return _C.roll(x, (shift,) * len(axes) if isinstance(shift, int) else tuple(shift), axes)


def tile(x, repetitions, /):
    """The array beside itself, so often along each axis."""
    return _C.tile(x, tuple(repetitions))


def take(x, indices, /, *, axis=None):
    """The elements of an axis at these indices, of one or more dimensions."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError("take: axis has to be given where x has other than one dimension")
        axis = 0
    axis = _place(axis, x.ndim)
    taken = _C.index_select(x, axis, _from_start(indices.reshape(-1), x.shape[axis]))
    return taken.reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1:])


def take_along_axis(x, indices, /, *, axis=-1):
    """For each place the element of the axis that the index there says; the other axes broadcast."""
    axis = _place(axis, x.ndim)
    return _C.take_along_dim(x, _from_start(indices, x.shape[axis]), axis)


def _from_start(indices, size):
    """The indices as int64, negative ones counted from the end."""
    indices = indices.to(_C.int64)
    return _C.where(indices < 0, indices + size, indices)


def matrix_transpose(x, /):
    """The last two axes exchanged."""
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: x has to have two dimensions or more, not {x.ndim}")
    return x.mT
