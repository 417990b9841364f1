"""Switching the recording of gradients off and on: no_grad, enable_grad, set_grad_enabled, inference_mode."""

import contextlib
import functools
import inspect
import threading
from typing import Any, Self

from . import _C


class _Mode:
    """A context manager that is a decorator too, of functions and of generators."""

    def __call__(self, function) -> Any:
        if inspect.isclass(function):
            function.__init__ = self(function.__init__)
            return function
        if inspect.isgeneratorfunction(function):
            @functools.wraps(function)
            def generator(*args, **kwargs):
                running = function(*args, **kwargs)
                go_on, given = running.send, None
                while True:
                    try:
                        with self.again():
                            item = go_on(given)
                    except StopIteration as end:
                        return end.value
                    try:
                        go_on, given = running.send, (yield item)
                    except GeneratorExit:
                        with self.again():
                            running.close()
                        raise
                    except BaseException as error:
                        go_on, given = running.throw, error
            return generator

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.again():
                return function(*args, **kwargs)
        return wrapped


class no_grad(_Mode):
    """Nothing is recorded in this block or function."""

    def __new__(cls, function=None) -> Self:
        self = object.__new__(cls)
        return self if function is None else _Mode.__call__(self, function)

    def again(self):
        return type(self)()

    def __enter__(self):
        self.before = _C._set_grad_enabled(False)

    def __exit__(self, *error):
        _C._set_grad_enabled(self.before)


class enable_grad(no_grad):
    """Operations are recorded in this block or function."""

    def __enter__(self):
        self.before = _C._set_grad_enabled(True)


class set_grad_enabled(_Mode):
    """Switches recording on or off: at once, and back where it is used as a block or a decorator."""

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}")
        self.mode = mode
        self.before = _C._set_grad_enabled(self.mode)

    def __call__(self, function):
        _C._set_grad_enabled(self.before)
        return super().__call__(function)

    def again(self):
        return type(self)(self.mode)

    def __enter__(self):
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *error):
        _C._set_grad_enabled(self.before)

    def __str__(self):
        return f"{repr(_C.float32).removesuffix('float32')}autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__


class inference_mode(_Mode):
    """No recording in this block or function, and what is made in it is never recorded later: is_inference() is True of it."""

    def __new__(cls, mode=True) -> Self:
        self = object.__new__(cls)
        if isinstance(mode, bool):
            self.mode = mode
            return self
        self.mode = True
        return _Mode.__call__(self, mode)

    def again(self):
        return type(self)(self.mode)

    def __enter__(self):
        self.before = _C._set_recording(not self.mode, self.mode)

    def __exit__(self, *error):
        _C._set_recording(*self.before)


_kept = threading.local()


@contextlib.contextmanager
def keeping_graphs():
    """Gradients that are asked for inside leave their graphs: a loop in place of a map asks for them again."""
    _kept.depth = getattr(_kept, "depth", 0) + 1
    try:
        yield
    finally:
        _kept.depth -= 1


def keeps_graphs():
    """Whether the calling thread is inside of keeping_graphs()."""
    return getattr(_kept, "depth", 0) > 0
