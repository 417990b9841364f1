"""torch.utils.dlpack: memory for other libraries and from them, by another place."""

from tandem import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
