"""Marks for NVIDIA's profilers: ranges of tandem's own profiler stand in for them."""

import contextlib

from .. import _C

_open = []


def range_push(msg):
    """Begins a range; how many were open."""
    _open.append(_C.seeing.start_range(str(msg)))
    return len(_open) - 1


def range_pop():
    """Ends the innermost range; how many are open."""
    if _open:
        _open.pop().end()
    return len(_open)


def mark(msg):
    """A moment."""
    _C.seeing.start_range(str(msg)).end()


@contextlib.contextmanager
def range(msg, *args, **kwargs):
    """A block as a range."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
