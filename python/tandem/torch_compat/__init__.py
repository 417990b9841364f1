"""import tandem.torch_compat: from here on `import torch` is tandem in this program, with stand-ins for torchvision and pycuda.

python -m tandem.torch_compat train.py --epochs 3     runs a program so
%load_ext tandem.torch_compat                         does it for a notebook
"""

import multiprocessing
import os
import sys

from tandem import _C
from tandem.torch_compat import _class_names, _finder, _notebook


def register():
    """Lets `import torch` find tandem. Nothing the second time; ImportError where PyTorch itself is loaded already."""
    if _finder.is_installed():
        return
    loaded = sys.modules.get("torch")
    place = getattr(loaded, "__file__", None) or "no file"
    started = os.path.dirname(place) == _finder.FOR_PROCESSES  # by a program that has said so already
    if loaded is not None and not started:
        raise ImportError(
            f"tandem.torch_compat: this program has loaded another torch already ({place}). "
            "Import tandem.torch_compat before anything that imports torch"
        )
    _C._module_prefix("torch.")
    _C.set_cpu_random("torch")
    _finder.install()
    _class_names.rename_errors()
    _class_names.rename_classes()
    _class_names.enter_modules()
    # A spawned process reads its program again before it is told who its parent is: Python marks it so.
    spawned = multiprocessing.parent_process() is not None or getattr(multiprocessing.current_process(), "_inheriting", False)
    if os.environ.get("TANDEM_QUIET") != "1" and not started and not spawned:
        print(f"tandem.torch_compat: `import torch` is tandem {_C.version} in this program", file=sys.stderr)


def load_ipython_extension(ipython):
    """What %load_ext calls: registers, and lets `!nvidia-smi` show the notebook's GPUs where there is no real nvidia-smi."""
    register()
    _notebook.put_nvidia_smi_on_path()


register()
