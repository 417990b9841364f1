"""Small helpers of the layers: numbers repeated for each dimension, names of types in errors, prefixes of state dictionaries."""

from collections.abc import Iterable
from itertools import repeat

from tandem import _C


def _ntuple(n, name):
    def parse(x):
        if isinstance(x, Iterable):
            return tuple(x)
        return tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t, n):
    """The elements from last to first, each n times: paddings of each dimension as `pad` wants them."""
    return tuple(x for x in reversed(t) for _ in range(n))


def typename(value):
    """The name of a value's type as error texts write it."""
    if isinstance(value, _C.Tensor):
        return value.type()
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__", None) else f"{module}.{kind.__qualname__}"


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Takes `prefix` off the keys of the dictionary that have it, in place."""
    for key in list(state_dict.keys()):
        if key.startswith(prefix):
            state_dict[key[len(prefix):]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        for key in list(metadata.keys()):
            if key and (key == prefix.rstrip(".") or key.startswith(prefix)):
                metadata[key[len(prefix):]] = metadata.pop(key)
