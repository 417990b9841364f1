"""pin_memory of batches, by the name that PyTorch's libraries import."""

from tandem.utils.data.collate import pin_memory

__all__ = ["pin_memory"]
