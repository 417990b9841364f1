"""New arrays, by the array API standard's names and arguments."""

import tandem
from tandem import _C


def _sizes(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of numbers, nested sequences, buffers or arrays. copy: True always copies, False is an error where it has to."""
    if copy is not False:
        return tandem.asarray(obj, dtype=dtype, device=device, copy=copy)
    if not isinstance(obj, _C.Tensor) and not hasattr(obj, "__dlpack__") and not hasattr(obj, "__array__"):
        raise ValueError("asarray: this object cannot become an array without a copy; leave out copy=False")
    shared = tandem.asarray(obj)
    made = tandem.asarray(shared, dtype=dtype, device=device)
    if made is not shared:
        raise ValueError("asarray: another dtype or device needs a copy; leave out copy=False")
    return made


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over another library's memory. copy: True always copies, False is an error where another device needs it."""
    shared = tandem.from_dlpack(x)
    made = shared if device is None else shared.to(device)
    if made is not shared and copy is False:
        raise ValueError("from_dlpack: another device needs a copy; leave out copy=False")
    return made.clone() if copy and made is shared else made


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Numbers from start up to stop; none where step leads away from stop."""
    if stop is None:
        start, stop = 0, start
    if dtype is None and any(isinstance(value, float) for value in (start, stop, step)):
        dtype = _C.get_default_dtype()
    if (stop - start) * step < 0:
        start = stop
    return _C.arange(start, stop, step, dtype=dtype, device=device)


def empty(shape, *, dtype=None, device=None):
    """An array whose elements are not set."""
    return _C.empty(_sizes(shape), dtype=dtype, device=device)


def zeros(shape, *, dtype=None, device=None):
    """An array of zeros."""
    return _C.zeros(_sizes(shape), dtype=dtype, device=device)


def ones(shape, *, dtype=None, device=None):
    """An array of ones."""
    return _C.ones(_sizes(shape), dtype=dtype, device=device)


def full(shape, fill_value, *, dtype=None, device=None):
    """An array of one value."""
    return _C.full(_sizes(shape), fill_value, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    """An array of x's shape whose elements are not set."""
    return _C.empty_like(x, dtype=dtype, device=device)


def zeros_like(x, /, *, dtype=None, device=None):
    """An array of zeros of x's shape."""
    return _C.zeros_like(x, dtype=dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    """An array of ones of x's shape."""
    return _C.ones_like(x, dtype=dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """An array of one value, of x's shape."""
    return _C.full_like(x, fill_value, dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on the k-th diagonal, zeros elsewhere."""
    made = _C.zeros((n_rows, n_rows if n_cols is None else n_cols), dtype=dtype, device=device)
    if -made.shape[0] < k < made.shape[1]:
        made.diagonal(k).fill_(1)
    return made


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """num numbers at equal distances from start to stop, without stop where `endpoint` is False."""
    if endpoint:
        return _C.linspace(start, stop, num, dtype=dtype, device=device)
    return _C.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num]


def meshgrid(*arrays, indexing="xy"):
    """Grids of coordinates. indexing: 'xy' or 'ij'."""
    return tuple(tandem.meshgrid(*arrays, indexing=indexing))


def tril(x, /, *, k=0):
    """The elements on and below the k-th diagonal of matrices, zeros elsewhere."""
    return _C.tril(x, k)


def triu(x, /, *, k=0):
    """The elements on and above the k-th diagonal of matrices, zeros elsewhere."""
    return _C.triu(x, k)
