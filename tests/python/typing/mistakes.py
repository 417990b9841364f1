"""Mistakes that a type checker has to find: it warns of each `type: ignore` that it does not need."""

from typing import TYPE_CHECKING

import tandem as torch

if TYPE_CHECKING:
    x = torch.zeros(2, 3)
    torch.no_such_function(x)  # type: ignore[attr-defined]
    x.no_such_method()  # type: ignore[attr-defined]
    torch.zeros("two")  # type: ignore[arg-type]
    torch.softmax(x, dimension=1)  # type: ignore[call-overload]
    x.sum().item().backward()  # type: ignore[union-attr]
    count: int = x.sum()  # type: ignore[assignment]
    x.shape = torch.Size((3, 2))  # type: ignore[misc]
