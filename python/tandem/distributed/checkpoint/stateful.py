"""What values must have to be asked for their states by save and load."""

from typing import Any, Protocol, runtime_checkable

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """A value that gives and takes its state: a module, an optimizer, a class of the caller's."""

    def state_dict(self) -> dict[str, Any]:
        """What is to be saved of it."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what was loaded for it."""
