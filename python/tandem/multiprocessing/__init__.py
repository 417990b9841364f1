"""Python's multiprocessing with tensors that travel between processes by their memory, not by value. As torch.multiprocessing.

A CPU tensor that is sent is moved into shared memory first, in place; where another tensor sees its memory, a copy of it is sent. A GPU's
tensor is opened by the other process, which must be started by spawn or forkserver; its owner must not end before."""

import multiprocessing as _python

from tandem.multiprocessing.reductions import init_reductions
from tandem.multiprocessing.spawn import (  # noqa: F401
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

# All names of Python's own module: Process, Queue, Pool, get_context and so on.
globals().update({_name: getattr(_python, _name) for _name in _python.__all__})

init_reductions()

_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"


def get_all_sharing_strategies():
    """The names that set_sharing_strategy takes."""
    return set(_STRATEGIES)


def get_sharing_strategy():
    """The name that was set."""
    return _strategy


def set_sharing_strategy(new_strategy):
    """Accepts PyTorch's names; memory is shared by descriptors in any case, so that nothing is left behind."""
    global _strategy
    assert new_strategy in _STRATEGIES
    _strategy = new_strategy
