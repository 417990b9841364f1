"""torch.futures: values that will be there, with what is to be done then."""

import threading
from typing import Generic, TypeVar

__all__ = ["Future", "collect_all", "fork", "wait", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A value that will be there: set_result() or set_exception() gives it, wait() waits for it. `devices` is accepted."""

    def __init__(self, *, devices=None):
        self._changed = threading.Condition()
        self._compute = None
        self._is_ready = None
        self._done = False
        self._value = self._error = None
        self._callbacks = []

    @classmethod
    def _of(cls, compute, is_ready):
        """One whose value is worked out by who first waits for it; is_ready() tells whether that takes no time."""
        made = cls()
        made._compute, made._is_ready = compute, is_ready
        return made

    def done(self):
        """Whether wait would return at once."""
        return self._done or (self._compute is not None and self._is_ready())

    def wait(self):
        """The value; raises what set_exception was given. On a GPU the current stream's later work comes behind it."""
        compute, self._compute = self._compute, None
        if compute is not None:
            try:
                self._finish(compute(), None)
            except Exception as error:
                self._finish(None, error)
        with self._changed:
            while not self._changed.wait_for(lambda: self._done, 0.05):  # Ctrl-C comes in between
                pass
        return self.value()

    def value(self):
        """The value that is there already; RuntimeError where it is not."""
        if self._compute is not None and self._is_ready():
            return self.wait()
        if not self._done:
            raise RuntimeError("Future: value() needs a completed future; wait() waits for it")
        if self._error is not None:
            raise self._error
        return self._value

    def _finish(self, value, error):
        with self._changed:
            if self._done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed once."
                )
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback(self)

    def set_result(self, result):
        """Gives the value, and calls what waits for it."""
        self._compute = None
        self._finish(result, None)

    def set_exception(self, result):
        """Lets wait and value raise the exception."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._compute = None
        self._finish(None, result)

    def add_done_callback(self, callback):
        """Calls callback(this) when the value is there, in the order in which they were added."""
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback):
        """The Future of callback(this one)."""
        if self._compute is not None:

            def compute():
                self.wait()
                return callback(self)

            return Future._of(compute, self.done)
        made = Future()

        def finish(_):
            try:
                value = callback(self)
            except Exception as error:
                made._finish(None, RuntimeError(f"Got the following error when running the callback: {type(error).__name__}: {error}"))
            else:
                made._finish(value, None)

        self.add_done_callback(finish)
        return made


def collect_all(futures):
    """A Future of the list of these, done when each of them is; it has the error of the first that failed."""
    if any(future._compute is not None for future in futures):

        def compute():
            for future in futures:
                future.wait()
            return list(futures)

        return Future._of(compute, lambda: all(future.done() for future in futures))
    made, left, mutex = Future(), [len(futures)], threading.Lock()

    def one_done(_):
        with mutex:
            left[0] -= 1
            if left[0]:
                return
        failed = next((future._error for future in futures if future._error is not None), None)
        made._finish(None if failed else list(futures), failed)

    if not futures:
        made.set_result([])
    for future in futures:
        future.add_done_callback(one_done)
    return made


def wait_all(futures):
    """The values of all of them; raises the error of the first that failed."""
    return [future.wait() for future in collect_all(futures).wait()]


def fork(func, *args, **kwargs):
    """A Future of func(*args, **kwargs), which has run when it is given back: outside TorchScript PyTorch runs it so, too."""
    made = Future()
    made.set_result(func(*args, **kwargs))
    return made


def wait(future):
    """The value of a Future."""
    return future.wait()
