"""What programs use beside tensors and modules: data loading, and checkpoints of activations."""
from tandem.utils import checkpoint, data

__all__ = ["checkpoint", "data"]


def __getattr__(name):
    """`benchmark`, `dlpack`, `hooks` and others, which are loaded when they are asked for."""
    import importlib

    if name in ("benchmark", "dlpack", "flop_counter", "hooks", "model_zoo", "_pytree"):
        return importlib.import_module(f"tandem.utils.{name}")
    raise AttributeError(f"module 'tandem.utils' has no attribute '{name}'")
