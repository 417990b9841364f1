"""Modules made without first values."""

import inspect

from tandem.nn.modules.module import Module


def _nothing(self):
    """Leaves the parameters as they are."""


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters have memory and no values, made as `module_cls(*args, **kwargs)`. No random numbers are drawn."""
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters and not any(
        p.kind is p.VAR_KEYWORD for p in inspect.signature(module_cls).parameters.values()
    ):
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    quiet = type(module_cls.__name__, (module_cls,), {"reset_parameters": _nothing, "_reset_parameters": _nothing})
    module = quiet(*args, **kwargs)
    module.__class__ = module_cls
    return module
