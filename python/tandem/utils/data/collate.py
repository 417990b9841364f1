"""Batches of samples: default_collate stacks what can be stacked, default_convert only makes tensors, pin_memory pins them."""
import collections.abc
import copy
import re
import sys

import tandem
from tandem import _C

_TEXT = re.compile(r"[SaUO]")  # kinds of numpy arrays that hold no numbers
_FOUND = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def _is_numpy(value):
    return type(value).__module__ == "numpy"


def _is_namedtuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _rebuilt(value, items):
    """A mapping or sequence of the type of `value` with these items; a dict or list where the type cannot be made so."""
    try:
        if isinstance(value, collections.abc.MutableMapping):
            made = copy.copy(value)
            made.update(items)
            return made
        if isinstance(value, collections.abc.MutableSequence):
            made = copy.copy(value)
            for index, item in enumerate(items):
                made[index] = item
            return made
        return type(value)(items)
    except TypeError:
        return items


def default_convert(data):
    """`data` with the numpy arrays and scalars in it as tensors."""
    if isinstance(data, _C.Tensor):
        return data
    if _is_numpy(data):
        if isinstance(data, sys.modules["numpy"].ndarray) and _TEXT.search(data.dtype.str):
            return data
        return tandem.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _rebuilt(data, {key: default_convert(value) for key, value in data.items()})
    if _is_namedtuple(data):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt(data, [default_convert(value) for value in data])
    return data


def collate(batch, *, collate_fn_map=None):
    """As default_collate, with functions (batch, *, collate_fn_map) for types of samples that go first."""
    first = batch[0]
    for kind, function in (collate_fn_map or {}).items():
        if isinstance(first, kind):
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, _C.Tensor):
        return _C.stack(list(batch), 0)
    if isinstance(first, bool):
        return _C.tensor(list(batch))
    if isinstance(first, float):
        return _C.tensor(list(batch), dtype=_C.float64)
    if isinstance(first, int):
        return _C.tensor(list(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if _is_numpy(first):
        return _collate_numpy(batch)
    if isinstance(first, collections.abc.Mapping):
        return _rebuilt(
            first, {key: collate([one[key] for one in batch], collate_fn_map=collate_fn_map) for key in first}
        )
    if isinstance(first, collections.abc.Sequence):
        if not all(len(one) == len(first) for one in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        fields = [collate(field, collate_fn_map=collate_fn_map) for field in zip(*batch)]
        if _is_namedtuple(first):
            return type(first)(*fields)
        return fields if isinstance(first, tuple) else _rebuilt(first, fields)
    raise TypeError(_FOUND.format(type(first)))


def _collate_numpy(batch):
    first = batch[0]
    if isinstance(first, sys.modules["numpy"].ndarray) and first.shape != ():
        if _TEXT.search(first.dtype.str):
            raise TypeError(_FOUND.format(first.dtype))
        return _C.stack([tandem.as_tensor(one) for one in batch], 0)
    return tandem.as_tensor(sys.modules["numpy"].stack(batch))


def default_collate(batch):
    """One batch of a list of samples: tensors, arrays and numbers are stacked along a new first dimension, text stays a list.

    Mappings and sequences of them are batched element by element.
    """
    return collate(batch)


def pin_memory(data):
    """`data` with the tensors in it in pinned memory, from which copies to a GPU need not wait."""
    if isinstance(data, _C.Tensor):
        return data.pin_memory()
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, collections.abc.Mapping):
        return _rebuilt(data, {key: pin_memory(value) for key, value in data.items()})
    if _is_namedtuple(data):
        return type(data)(*(pin_memory(value) for value in data))
    if isinstance(data, tuple):
        return [pin_memory(value) for value in data]
    if isinstance(data, collections.abc.Sequence):
        return _rebuilt(data, [pin_memory(value) for value in data])
    return data
