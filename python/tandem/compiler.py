"""torch.compiler: what programs tell a compiler. Most of it has nothing to tell here."""

from ._compile import compile

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable", "is_compiling",
           "is_dynamo_compiling", "is_exporting", "list_backends", "reset", "set_stance"]


def is_compiling():
    """False: a module is compiled from what its forward did, not while it runs."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def disable(fn=None, recursive=True, *, reason=None):
    """The function or module itself; as a decorator too."""
    return (lambda wrapped: wrapped) if fn is None else fn


def allow_in_graph(fn):
    """The function itself."""
    return fn


assume_constant_result = allow_in_graph


def reset():
    """Nothing: what was compiled lives as long as its module."""


cudagraph_mark_step_begin = reset


def list_backends(exclude_tags=()):
    """['inductor']: the name that compile() takes; it changes nothing."""
    return ["inductor"]


class set_stance:
    """Accepted, as a call, as a block and over a function: it changes nothing."""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        self.stance = stance

    def __call__(self, function):
        return function

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None
