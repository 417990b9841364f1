"""The CPU as a device, by the names that torch.cuda has: programs for any device ask it the same."""

import contextlib

__all__ = ["Stream", "StreamContext", "current_device", "current_stream", "device_count", "is_available", "is_initialized", "set_device", "stream", "synchronize"]


class Stream:
    """Work of the CPU, which is done when a call returns."""

    def __init__(self, priority=-1):
        pass

    def wait_stream(self, stream):
        """Nothing to wait for."""

    def record_event(self):
        """Nothing to record."""


_stream = Stream()


class StreamContext(contextlib.AbstractContextManager):
    """A block with a stream of the CPU's, which changes nothing."""

    def __init__(self, stream):
        self.stream = stream

    def __exit__(self, *error):
        pass


def is_available():
    """True."""
    return True


def is_initialized():
    """True."""
    return True


def device_count():
    """1."""
    return 1


def current_device():
    """'cpu'."""
    return "cpu"


def set_device(device):
    """Accepted: there is one."""


def current_stream(device=None):
    """The one stream."""
    return _stream


def stream(stream):
    """A block with this stream."""
    return StreamContext(stream)


def synchronize(device=None):
    """Nothing to wait for."""
