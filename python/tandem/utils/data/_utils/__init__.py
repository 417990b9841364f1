"""PyTorch's names for the parts of the data loader that libraries import: collate, fetch, worker, pin_memory."""

import sys

from tandem.utils.data import collate, fetch, worker
from tandem.utils.data._utils import pin_memory

MP_STATUS_CHECK_INTERVAL = 5.0
python_exit_status = False
# They are the modules themselves, so that what a program replaces in them is replaced.
for _module in (collate, fetch, worker):
    sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module

__all__ = ["collate", "fetch", "pin_memory", "worker"]
