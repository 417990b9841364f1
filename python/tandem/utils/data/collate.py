"""Batches of samples: default_collate stacks what can be stacked, default_convert only makes tensors, pin_memory pins them."""
import collections.abc
import copy
import re
import sys

import tandem
from tandem import _C

np_str_obj_array_pattern = re.compile(r"[SaUO]")  # kinds of numpy arrays that hold no numbers
default_collate_err_msg_format = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


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
        if isinstance(data, sys.modules["numpy"].ndarray) and np_str_obj_array_pattern.search(data.dtype.str):
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


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Tensors of one size along a new first dimension."""
    return _C.stack(list(batch), 0)


def collate_float_fn(batch, *, collate_fn_map=None):
    """Python's floats as a float64 tensor."""
    return _C.tensor(list(batch), dtype=_C.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """Ints or bools as a tensor."""
    return _C.tensor(list(batch))


def collate_str_fn(batch, *, collate_fn_map=None):
    """The list of texts itself."""
    return batch


# What default_collate does with samples of a type; programs add theirs.
default_collate_fn_map = {
    _C.Tensor: collate_tensor_fn, float: collate_float_fn, int: collate_int_fn, str: collate_str_fn, bytes: collate_str_fn,
}


def collate(batch, *, collate_fn_map=None):
    """As default_collate, by the functions (batch, *, collate_fn_map) that the map has for types of samples."""
    first = batch[0]
    if collate_fn_map is not None:
        function = collate_fn_map.get(type(first)) or next((found for kind, found in collate_fn_map.items() if isinstance(first, kind)), None)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
    if _is_numpy(first):
        return _collate_numpy(batch)
    if isinstance(first, collections.abc.Mapping):
        return _rebuilt(
            first, {key: collate([one[key] for one in batch], collate_fn_map=collate_fn_map) for key in first}
        )
    if isinstance(first, collections.abc.Sequence) and not isinstance(first, (str, bytes)):
        if not all(len(one) == len(first) for one in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        fields = [collate(field, collate_fn_map=collate_fn_map) for field in zip(*batch)]
        if _is_namedtuple(first):
            return type(first)(*fields)
        return fields if isinstance(first, tuple) else _rebuilt(first, fields)
    raise TypeError(default_collate_err_msg_format.format(type(first)))


def _collate_numpy(batch):
    first = batch[0]
    if isinstance(first, sys.modules["numpy"].ndarray) and first.shape != ():
        if np_str_obj_array_pattern.search(first.dtype.str):
            raise TypeError(default_collate_err_msg_format.format(first.dtype))
        return _C.stack([tandem.as_tensor(one) for one in batch], 0)
    return tandem.as_tensor(sys.modules["numpy"].stack(batch))


def default_collate(batch):
    """One batch of a list of samples: tensors, arrays and numbers are stacked along a new first dimension, text stays a list.

    Mappings and sequences of them are batched element by element.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


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
