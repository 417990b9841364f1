"""Calls of a module with other parameters and buffers than its own."""

from contextlib import contextmanager


def _places(module):
    """Where each parameter and buffer stands: dotted name to its module, the dictionary there, and its key."""
    places = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for entries in (part._parameters, part._buffers):
            for name in entries:
                places[f"{prefix}.{name}" if prefix else name] = part, entries, name
    return places


def _put(place, tensor):
    """Makes the tensor the one of a place, of whatever kind it is."""
    part, entries, key = place
    entries[key] = part.__dict__[key] = tensor


@contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
    """Within the block the module has the given tensors in the place of its own."""
    places = _places(module)
    replaced = dict(parameters_and_buffers)
    if strict:
        own = {name: entries[key] for name, (_, entries, key) in places.items() if entries[key] is not None}
        given = {id(own[name]) for name in replaced if name in own}
        unexpected = [name for name in replaced if name not in places]
        missing = [name for name, tensor in own.items() if name not in replaced and id(tensor) not in given]
        texts = [
            f"{kind} key(s): " + ", ".join(repr(name) for name in sorted(names)) + "."
            for kind, names in (("Unexpected", unexpected), ("Missing", missing))
            if names
        ]
        if texts:
            raise RuntimeError("Error(s) in reparametrizing for {}:\n\t{}".format(type(module).__name__, "\n\t".join(texts)))
    if tie_weights:
        of_tensor = {}
        for name in parameters_and_buffers:
            if name in places:
                _, entries, key = places[name]
                of_tensor[id(entries[key])] = parameters_and_buffers[name]
        for name, (_, entries, key) in places.items():
            if name not in replaced and entries[key] is not None and id(entries[key]) in of_tensor:
                replaced[name] = of_tensor[id(entries[key])]
    former = []
    try:
        for name, tensor in replaced.items():
            if name not in places:
                raise KeyError(f"{name} is no parameter or buffer of {type(module).__name__}")
            _, entries, key = place = places[name]
            former.append((place, entries[key], tensor, name))
            _put(place, tensor)
        yield
    finally:
        for place, own, tensor, name in reversed(former):
            current = place[1].get(place[2], own)
            _put(place, own)
            if current is not tensor and name in parameters_and_buffers:
                parameters_and_buffers[name] = current


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Calls the module with the tensors of the dictionary in the place of those of their names."""
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


_functional_call = functional_call
