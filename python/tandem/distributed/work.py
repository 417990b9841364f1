"""Handles of collectives that are under way, and how elements of several ranks become one."""

import time
from enum import IntEnum

from tandem.futures import Future


class ReduceOp(IntEnum):
    """How the ranks' elements become one. AVG is the sum divided by the number of ranks. The bitwise ones are not supported."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __repr__(self):
        return f"<RedOpType.{self.name}: {int(self)}>"


ReduceOp.RedOpType = ReduceOp


class reduce_op:
    """The older names of ReduceOp's values."""

    SUM, PRODUCT, MAX, MIN = ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MAX, ReduceOp.MIN


_POLL_SECONDS = 0.0005


class Work:
    """A collective that was asked for with `async_op=True`. Its tensors must not be used before `wait`."""

    def __init__(self, handle, after=None, result=(), source=-1):
        self._handle = handle
        self._after = after  # what is to be done when it has been waited for
        self._result = result
        self._source = source
        self._error = None

    def wait(self, timeout=None):
        """On a GPU the current stream's later work comes behind it, and the host goes on; on the CPU the host waits. True."""
        if timeout is not None and timeout.total_seconds() > 0:
            self._poll(timeout.total_seconds())
        try:
            self._handle.wait()
        except Exception as error:
            self._error = error
            raise
        after, self._after = self._after, None
        if after is not None:
            after()
        return True

    def _poll(self, seconds):
        deadline = time.monotonic() + seconds
        while not self._handle.is_completed():
            if time.monotonic() >= deadline:
                raise RuntimeError(f"Timed out after {seconds * 1000:.0f} ms waiting for a collective")
            time.sleep(_POLL_SECONDS)

    def synchronize(self):
        """As wait."""
        self.wait()

    def is_completed(self):
        """Whether it is done, well or badly. Waits for nothing."""
        return self._handle.is_completed()

    def is_success(self):
        """Whether it is done, and no wait for it has failed."""
        return self._handle.is_completed() and self._error is None

    def exception(self):
        """What a wait for it has raised; None where there was nothing."""
        return self._error

    def result(self):
        """The tensors that it writes."""
        return list(self._result)

    def source_rank(self):
        """Whom a received message came from."""
        return self._source

    def get_future(self):
        """The same as a Future of the list of tensors that it writes."""
        def tensors():
            self.wait()
            return self.result()
        return Future._of(tensors, self.is_completed)


class Done:
    """The handle of what is done already."""

    def wait(self):
        """Returns at once."""

    def is_completed(self):
        """True."""
        return True
