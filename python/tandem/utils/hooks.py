"""Handles of hooks, under the name that programs import them by."""
from tandem._hooks import RemovableHandle

__all__ = ["RemovableHandle"]
