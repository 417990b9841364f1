"""The functions that tracing records: their names in code, and what stands in their places while a program is traced."""

import functools
import importlib
import inspect
import sys
import types

from tandem._functions import _assert

# Where programs find functions, and what code calls the module.
PLACES = {
    "tandem.nn.functional": "torch.nn.functional", "tandem": "torch", "tandem.linalg": "torch.linalg", "tandem.special": "torch.special",
    "tandem.fft": "torch.fft",
}  # fmt: skip
# Functions of nn.functional that PyTorch calls by its first module, from wherever they are taken.
_OF_TORCH = frozenset(
    "adaptive_avg_pool1d avg_pool1d bilinear celu_ channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d "
    "conv_transpose3d cosine_similarity hardshrink native_channel_shuffle pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_ "
    "rrelu_ selu_ sigmoid tanh threshold_".split()
)
_ABOUT_OBJECTS = frozenset(("is_tensor", "is_storage", "typename", "compile", "save", "load", "virtual_gpus", "smi"))


@functools.cache
def _names():
    names = {}
    for place, text in PLACES.items():
        for name, value in vars(importlib.import_module(place)).items():
            if name.startswith("_") or isinstance(value, (type, types.ModuleType)) or not callable(value) or name in _ABOUT_OBJECTS:
                continue
            names.setdefault(value, f"torch.{name}" if name in _OF_TORCH else f"{text}.{name}")
    names[_assert] = "torch._assert"
    return names


def name_of(function):
    """The name by which code calls one of tandem's functions, such as torch.relu; None for others."""
    try:
        return _names().get(function)
    except TypeError:  # not hashable
        return None


def proxy_in(value):
    """The first proxy in a value, through its tuples, lists, dicts and slices; or None."""
    from tandem.fx.proxy import Proxy

    if isinstance(value, Proxy):
        return value
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    elif not isinstance(value, (tuple, list)):
        return None
    return next((found for found in map(proxy_in, value) if found is not None), None)


def _filled(function, args, kwargs):
    """A call as PyTorch's nn.functional records it: what has a default goes by its name, and with the default where it is not given."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return args, kwargs
    bound.apply_defaults()
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
        return args, kwargs
    needed = [p.name for p in parameters if p.default is p.empty]
    return tuple(bound.arguments[name] for name in needed), {k: v for k, v in bound.arguments.items() if k not in needed}


def recorder(function, is_wrapped=False):
    """What stands in a function's place: it records calls that are given proxies, and calls the function for all others."""
    fills = isinstance(function, types.FunctionType) and name_of(function) == f"torch.nn.functional.{function.__name__}"

    @functools.wraps(function)
    def recorded(*args, **kwargs):
        proxy = proxy_in((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        if fills:
            args, kwargs = _filled(function, args, kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        if is_wrapped:
            made.node.meta["is_wrapped"] = True
        return made

    return recorded


class Patches:
    """Puts values into modules, classes and dictionaries, and what was there back at the end."""

    def __init__(self):
        self.before = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for owner, name, value in reversed(self.before):
            if isinstance(owner, dict):
                owner.pop(name, None) if value is PATCH_NOTHING else owner.__setitem__(name, value)
            else:
                setattr(owner, name, value)

    def put(self, owner, name, value):
        """owner[name] or owner.name is the value until the end."""
        if isinstance(owner, dict):
            self.before.append((owner, name, owner.get(name, PATCH_NOTHING)))
            owner[name] = value
        else:
            self.before.append((owner, name, owner.__dict__[name] if isinstance(owner, type) else getattr(owner, name)))
            setattr(owner, name, value)

    def functions_in(self, namespace, recorders):
        """Puts recorders in the places of tandem's functions in a module's dictionary."""
        for name, value in list(namespace.items()):
            found = recorders.get(id(value))
            if found is not None:
                self.put(namespace, name, found)


PATCH_NOTHING = object()


def recorders():
    """The recorders of all functions, by their ids."""
    return {id(function): recorder(function) for function in _names()}


def namespaces():
    """The dictionaries of the modules whose functions are recorded: tandem's, and torch's where it is tandem."""
    found = [vars(importlib.import_module(place)) for place in PLACES]
    torch = sys.modules.get("torch")
    return found + ([vars(torch)] if torch is not None and hasattr(torch, "torch") and "tandem" in getattr(torch, "__version__", "") else [])
