"""The named tuples that functions written in Python give: their types print as those of the operations in C++."""

import collections

from . import _C


def _repr(self):
    prefix = repr(_C.float32).removesuffix("float32")  # tandem. or torch.
    return (
        f"{prefix}return_types.{type(self).__name__}(\n"
        + ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
        + ")"
    )


def named_result(name, fields):
    """A type of named tuples."""
    return type(name, (collections.namedtuple(name, fields),), {"__slots__": (), "__repr__": _repr, "__module__": "tandem.return_types"})
