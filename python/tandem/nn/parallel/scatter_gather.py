"""Arguments of any form in parts, one for each device, and results joined. Gradients flow through both."""

import warnings

from tandem import _C
from tandem.nn.parallel.comm import device_of

_c = _C._parallel


def _is_namedtuple(value):
    return isinstance(value, tuple) and hasattr(value, "_asdict") and hasattr(value, "_fields")


def _scatter(value, devices, dim):
    """A list with a part for each device; fewer where a tensor has fewer chunks."""
    if isinstance(value, _C.Tensor):
        return list(_c.scatter(value, devices, dim))
    if _is_namedtuple(value):
        return [type(value)(*parts) for parts in zip(*(_scatter(item, devices, dim) for item in value))]
    if isinstance(value, tuple) and value:
        return list(zip(*(_scatter(item, devices, dim) for item in value)))
    if isinstance(value, list) and value:
        return [list(parts) for parts in zip(*(_scatter(item, devices, dim) for item in value))]
    if isinstance(value, dict) and value:
        return [type(value)(zip(value, parts)) for parts in zip(*(_scatter(item, devices, dim) for item in value.values()))]
    return [value for _ in devices]


def scatter(inputs, target_gpus, dim=0):
    """Cuts the tensors in tuples, lists and dicts into chunks along `dim`, one for each GPU; other objects are the same for all."""
    return _scatter(inputs, [device_of(gpu) for gpu in target_gpus], dim)


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """Positional and keyword arguments for each GPU, two tuples of one length."""
    positional = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    positional.extend(() for _ in range(len(named) - len(positional)))
    named.extend({} for _ in range(len(positional) - len(named)))
    return tuple(positional), tuple(named)


def gather(outputs, target_device, dim=0):
    """Joins what the devices gave along `dim` on one device: tensors, and those in tuples, lists and dicts."""
    target = device_of(target_device)

    def join(parts):
        first = parts[0]
        if isinstance(first, _C.Tensor):
            if dim == 0 and all(part.dim() == 0 for part in parts):
                warnings.warn(
                    "Was asked to gather along dimension 0, but all input tensors were scalars; will instead unsqueeze and return a "
                    "vector.",
                    stacklevel=4,
                )
            return _c.gather(parts, target, dim)
        if first is None:
            return None
        if isinstance(first, dict):
            if not all(len(first) == len(part) for part in parts):
                raise ValueError("All dicts must have the same number of keys")
            return type(first)((key, join([part[key] for part in parts])) for key in first)
        if _is_namedtuple(first):
            return type(first)._make(map(join, zip(*parts)))
        return type(first)(map(join, zip(*parts)))

    return join(list(outputs))
