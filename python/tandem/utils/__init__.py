"""What programs use beside tensors and modules: data loading, and checkpoints of activations."""
from tandem.utils import checkpoint, data

__all__ = ["checkpoint", "data"]
