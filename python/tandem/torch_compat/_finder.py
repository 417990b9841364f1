"""Finds torch, torchvision and pycuda, and all below them, in tandem's package: the modules are tandem's own, under a second name."""

import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys

from tandem.torch_compat import _class_names

_HERE = "tandem.torch_compat"
# On the path of processes that the program starts: a torch there asks for tandem as the program has.
FOR_PROCESSES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spawned")
# Where a name is looked for: the folder of what only programs of PyTorch need first.
_PLACES = {"torch": (f"{_HERE}.torch", "tandem"), "torchvision": (f"{_HERE}.torchvision",), "pycuda": (f"{_HERE}.pycuda",)}


def _module_of(fullname):
    """The module that a name such as torch.nn.functional stands for; None where there is none."""
    top, _, rest = fullname.partition(".")
    for place in _PLACES[top]:
        name = f"{place}.{rest}" if rest else place
        try:
            found = name in sys.modules or importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:  # a part of the name is no package
            found = False
        if found:
            module = importlib.import_module(name)
            _class_names.rename_classes()
            return module
    return None


class _Loader:
    """Puts the module that a name stands for under that name."""

    def __init__(self, module):
        self.module = module

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        sys.modules[module.__spec__.name] = self.module
        _class_names.enter_modules()

    def get_code(self, fullname):
        """What `python -m` runs of it."""
        return self.module.__spec__.loader.get_code(self.module.__spec__.name)


class _Finder:
    """Answers for the names in _PLACES, and says by name what tandem does not have."""

    def __init__(self, tops):
        self.tops = tops

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] not in self.tops:
            return None
        module = _module_of(fullname)
        if module is None:
            raise ModuleNotFoundError(f"No module named '{fullname}': tandem does not have it", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=hasattr(module, "__path__"))

    def find_distributions(self, context):
        """The one of torch, where it or all are asked for."""
        return iter([_Installed()] if context.name in (None, "torch") else [])


class _Installed(importlib.metadata.Distribution):
    """What importlib.metadata tells of torch: programs ask for its version before they import it."""

    def read_text(self, filename):
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {importlib.import_module('torch').__version__}\n"

    def locate_file(self, path):
        return os.path.join(os.path.dirname(FOR_PROCESSES), path)


def is_installed():
    """Whether `import torch` finds tandem."""
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


def install():
    """Puts the finder before all others. The real torchvision calls PyTorch's own library and cannot be used; a real pycuda can."""
    tops = {"torch", "torchvision"}
    if importlib.util.find_spec("pycuda") is None:
        tops.add("pycuda")
    sys.meta_path.insert(0, _Finder(frozenset(tops)))
    if FOR_PROCESSES not in sys.path:
        sys.path.insert(1, FOR_PROCESSES)  # processes that multiprocessing spawns are given sys.path
