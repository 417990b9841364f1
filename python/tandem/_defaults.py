"""What `with tandem.device(...)` and its form as a decorator do: the device of tensors that are made without one of their own."""

import functools
import threading

from . import _C

_before = threading.local()  # the devices that the blocks of a thread are going back to


def _enter_device(device):
    if not hasattr(_before, "devices"):
        _before.devices = []
    _before.devices.append(_C.get_default_device())
    _C.set_default_device(device)
    return device


def _exit_device():
    _C.set_default_device(_before.devices.pop())


def _on_device(device, function):
    @functools.wraps(function)
    def on_device(*args, **kwargs):
        with device:
            return function(*args, **kwargs)

    return on_device
