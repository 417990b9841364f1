"""Sorting, searching and sets, by the array API standard's names and arguments."""

import collections

import tandem
from tandem import _C
from tandem.array_api._dtypes import promoted

UniqueAll = collections.namedtuple("unique_all_result", "values indices inverse_indices counts")
UniqueCounts = collections.namedtuple("unique_counts_result", "values counts")
UniqueInverse = collections.namedtuple("unique_inverse_result", "values inverse_indices")


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """The elements in order along an axis."""
    return _C.sort(x, dim=axis, descending=descending, stable=stable).values


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The indices that put the elements in order along an axis."""
    return _C.sort(x, dim=axis, descending=descending, stable=stable).indices


def argmax(x, /, *, axis=None, keepdims=False):
    """The index of the largest element along an axis, of the flattened array for None."""
    return _C.argmax(x, axis, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    """The index of the smallest element along an axis, of the flattened array for None."""
    return _C.argmin(x, axis, keepdims)


def nonzero(x, /):
    """Where the elements are not zero: an array of indices for each axis."""
    if x.ndim == 0:
        raise ValueError("nonzero: an array without dimensions has no indices")
    return tandem.nonzero(x, as_tuple=True)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where in x1, which is in order or is put so by `sorter`, the values x2 would have to stand."""
    if not isinstance(x2, _C.Tensor):
        x2 = _C.tensor(x2, dtype=x1.dtype, device=x1.device)
    x1, x2 = promoted(x1, x2)
    if sorter is not None:
        x1 = _C.index_select(x1, 0, sorter.to(_C.int64))
    return _C.searchsorted(x1, x2, side=side)


def where(condition, x1, x2, /):
    """x1 where the condition is true, x2 elsewhere."""
    if not isinstance(x1, _C.Tensor) and not isinstance(x2, _C.Tensor):
        return _C.where(condition, x1, x2)
    return _C.where(condition, *promoted(x1, x2))


def isin(x1, x2, /, *, invert=False):
    """Whether each element of x1 is among those of x2."""
    x1, x2 = promoted(x1, x2)
    return _C.isin(x1, x2, invert=invert)


def unique_all(x, /):
    """The different elements in order, where each stands first, which of them every element is, and how often each is there.

    Every NaN is different from the others.
    """
    flat = x.reshape(-1)
    ordered, places = _C.sort(flat, dim=0, stable=True)
    first = _C.cat([_C.ones(min(1, flat.numel()), dtype=_C.bool, device=x.device), ordered[1:] != ordered[:-1]])
    starts = tandem.nonzero(first).reshape(-1)
    ends = _C.cat([starts[1:], _C.full((min(1, flat.numel()),), flat.numel(), dtype=_C.int64, device=x.device)])
    inverse = _C.empty_like(places).scatter(0, places, _C.cumsum(first, 0) - 1)
    return UniqueAll(ordered[starts], places[starts], inverse.reshape(x.shape), ends - starts)


def unique_counts(x, /):
    """The different elements in order, and how often each is there."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x, /):
    """The different elements in order, and which of them every element is."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x, /):
    """The different elements in order."""
    return unique_all(x).values
