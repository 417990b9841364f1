"""Streams, events and errors of GPUs by names that do not say whose they are: torch.Stream, torch.Event, torch.AcceleratorError."""

from . import _C


class AcceleratorError(RuntimeError):
    """For programs that name it: an error of a GPU's is a RuntimeError here, which names the call and CUDA's word for it."""


class _GPUs(type):
    """The type of a class that stands for one of tandem.cuda."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, cls._class)

    def __subclasscheck__(cls, subclass):
        return issubclass(subclass, cls._class)


def _index_of(device, what):
    """The GPU's number; None for the current one."""
    if device is None or isinstance(device, int):
        return device
    made = device if isinstance(device, _C.device) else _C.device(device)
    if made.type != "cuda":
        raise RuntimeError(f"{what} is of GPUs: the device is cuda or cuda:1, but got {made}")
    return made.index


class Stream(metaclass=_GPUs):
    """Stream(device=None, priority=0) makes a tandem.cuda.Stream; every one of those is an instance of this."""

    _class = _C.cuda.Stream

    def __new__(cls, device=None, *, priority=0):
        return _C.cuda.Stream(_index_of(device, "torch.Stream"), priority)


class Event(metaclass=_GPUs):
    """Event(device=None, enable_timing=False) makes a tandem.cuda.Event; every one of those is an instance of this."""

    _class = _C.cuda.Event

    def __new__(cls, device=None, *, enable_timing=False, blocking=False, interprocess=False):
        _index_of(device, "torch.Event")
        return _C.cuda.Event(enable_timing, blocking, interprocess)
