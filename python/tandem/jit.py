"""torch.jit: nothing is compiled. What a program scripts or traces runs as the Python that it is."""

import functools
from typing import Final  # noqa: F401  what programs annotate constants with

from tandem.futures import Future, fork, wait  # noqa: F401
from tandem.nn import Module


class ScriptModule(Module):
    """A module like any other; none is one unless a program derives it."""


class ScriptFunction:
    """What no function is: a function that was scripted."""


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """The function, module or class itself."""
    return obj


def trace(func, example_inputs=None, *args, example_kwarg_inputs=None, **kwargs):
    """The function or module itself."""
    return func


def script_method(fn):
    """The method itself."""
    return fn


ignored = unused = export = interface = script_method


def ignore(drop=False, **kwargs):
    """The function itself; with and without arguments."""
    return drop if callable(drop) else script_method


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """The module itself."""
    return mod


optimize_for_inference = freeze


def annotate(the_type, the_value):
    """The value."""
    return the_value


def isinstance(obj, target_type):
    """Whether the object is of the type."""
    return functools.reduce(
        lambda found, kind: found or issubclass(type(obj), kind),
        target_type if type(target_type) in (tuple, list) else [target_type],
        False,
    )


def is_scripting():
    """False: this is Python."""
    return False


is_tracing = is_scripting


def save(m, f, _extra_files=None):
    """NotImplementedError: there is no program apart from its Python to be written."""
    raise NotImplementedError("torch.jit.save: tandem has no TorchScript. torch.save(model.state_dict(), path) keeps the weights")


def load(f, map_location=None, _extra_files=None):
    """NotImplementedError, as save."""
    raise NotImplementedError("torch.jit.load: tandem has no TorchScript. Make the model in Python and load a state_dict")
