"""The module `torch` of programs that asked for it: tandem's names, with what only such programs look for."""

import importlib
import sys

import tandem
from tandem.torch_compat.torch import _C

globals().update({name: value for name, value in vars(tandem).items() if not name.startswith("_")})

torch = sys.modules[__name__]  # torch.torch is torch
__name__ = "torch"  # what errors about this module name
# The version of PyTorch whose names and behaviour tandem has, and tandem's own.
__version__ = f"2.15.0+tandem.{tandem.__version__}"


def __getattr__(name):
    """Parts that are imported when they are asked for; AttributeError that says so for what tandem does not have."""
    if not name.startswith("__"):
        try:
            return importlib.import_module(f"torch.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"torch.{name}":
                raise
        if name.startswith("_foreach_") and hasattr(tandem, name):
            return getattr(tandem, name)
    raise AttributeError(f"module 'torch' has no attribute '{name}': tandem does not have it", name=name)
