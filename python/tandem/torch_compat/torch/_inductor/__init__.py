"""torch._inductor, which programs set options of: they are kept, and change nothing."""

from tandem.torch_compat.torch._inductor import config

__all__ = ["config", "list_mode_options", "list_options"]


def list_mode_options(mode=None, dynamic=None):
    """No options."""
    return {}


def list_options():
    """No options."""
    return []
