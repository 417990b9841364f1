"""Small helpers of the layers: numbers repeated for each dimension, whose constructor errors name, prefixes of state dictionaries."""

import types
from collections.abc import Iterable
from itertools import repeat

from tandem._functions import typename  # noqa: F401


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


# Bases that PyTorch has by the same names: errors about the arguments of their layers name them.
_SHARED_BASES = (
    "_AdaptiveAvgPoolNd", "_AdaptiveMaxPoolNd", "_DropoutNd", "_LPPoolNd", "_LazyNormBase", "_Loss", "_MaxPoolNd", "_NormBase", "_WeightedLoss",
)


def own_constructor(layer):
    """Gives a layer that has the constructor of a private base one of its own, so that errors about its arguments name the layer."""
    inherited = layer.__init__
    base = inherited.__qualname__.partition(".")[0]
    if "__init__" in vars(layer) or not base.startswith("_") or base in _SHARED_BASES:
        return
    own = types.FunctionType(inherited.__code__, inherited.__globals__, "__init__", inherited.__defaults__, inherited.__closure__)
    own.__kwdefaults__, own.__doc__, own.__module__ = inherited.__kwdefaults__, inherited.__doc__, layer.__module__
    own.__qualname__ = f"{layer.__qualname__}.__init__"
    layer.__init__ = own


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
