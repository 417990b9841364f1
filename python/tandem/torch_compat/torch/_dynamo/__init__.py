"""torch._dynamo, which programs set options of: they are kept, and change nothing."""

from tandem.compiler import allow_in_graph, disable, is_compiling, list_backends, reset
from tandem.torch_compat.torch._dynamo import config

__all__ = ["allow_in_graph", "config", "disable", "graph_break", "is_compiling", "list_backends", "mark_dynamic", "mark_static", "optimize", "reset"]


def optimize(*args, **kwargs):
    """A decorator that gives the function itself."""
    return lambda function: function


def graph_break(msg=""):
    """Nothing: there is no graph to break."""


def mark_dynamic(t, index, *, min=None, max=None, **options):
    """Accepted: compile() learns each size as it comes."""


def mark_static(t, index=None):
    """Accepted: compile() learns each size as it comes."""
