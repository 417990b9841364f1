"""The names that classes have in a program that imports torch: they say torch.nn.modules.linear.Linear, as PyTorch's do."""

import inspect
import os
import sys

from tandem import _C
from tandem._moved import say_from

# Parts of tandem that PyTorch has not: their classes keep their names.
_TANDEMS = ("_C", "_cells", "_compile", "_html", "_missing", "_virtual", "array_api", "ledger", "races", "smi", "torch_compat", "train")
# Modules whose classes PyTorch has in another place.
_PLACES = {
    "tandem": "torch", "tandem._grad_mode": "torch.autograd.grad_mode", "tandem._hooks": "torch.utils.hooks", "tandem._settings": "torch",
    "tandem._streams": "torch", "tandem.return_types": "torch.return_types", "tandem.nn.modules._state": "torch.nn.modules.module",
    "tandem.utils.data.single_process": "torch.utils.data.dataloader", "tandem.utils.data.multi_process": "torch.utils.data.dataloader",
}
# What `import torch.name` finds beside tandem's own modules.
_ONLY_HERE = {name.partition(".")[0] for name in os.listdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch"))}
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: what is written in Python, and what C++ makes as it runs
_renamed = {}  # by their names: modules whose classes have PyTorch's names


def _place_of(name):
    """The module that PyTorch has a class of this module in; None for what is tandem's alone."""
    top, _, rest = name.partition(".")
    if top != "tandem" or rest.partition(".")[0] in _TANDEMS:
        return None
    return _PLACES.get(name) or f"torch.{rest}"


def rename_classes():
    """Gives the classes of all modules that are loaded by now PyTorch's names. Each module is looked at once."""
    for name, module in list(sys.modules.items()):
        if name in _renamed or _place_of(name) is None or getattr(module, "__name__", None) != name:
            continue
        _renamed[name] = module
        for value in list(vars(module).values()):
            place = _place_of(value.__module__) if inspect.isclass(value) and type(value.__module__) is str else None
            if place is not None and value.__flags__ & _HEAP_TYPE:
                say_from(value, place)


def enter_modules():
    """Lets inspect find the modules that classes name so: `import torch.name` need not have been written."""
    for name, module in _renamed.items():
        rest = name.partition(".")[2]
        if rest and rest.partition(".")[0] not in _ONLY_HERE:
            sys.modules.setdefault(f"torch.{rest}", module)


def rename_errors():
    """The errors that C++ raises, by the names that tracebacks of PyTorch's tell."""
    _C.OutOfMemoryError.__module__ = "torch"
    error = _C.LinAlgError
    error.__module__, error.__name__, error.__qualname__ = "torch._C", "_LinAlgError", "_LinAlgError"
