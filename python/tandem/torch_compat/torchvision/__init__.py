"""Stands in for torchvision: datasets, transforms, utils, io, a few models and operators, as far as most programs use them."""

import importlib

from tandem import _C

__version__ = f"0.30.0+tandem.{_C.version}"


def __getattr__(name):
    """Parts that are imported when they are asked for; AttributeError that says so for what this stand-in does not have."""
    if name in ("datasets", "io", "models", "ops", "transforms", "utils"):
        return importlib.import_module(f"torchvision.{name}")
    raise AttributeError(
        f"module 'torchvision' has no attribute '{name}': tandem's stand-in has datasets, io, models, ops, transforms and utils", name=name
    )
