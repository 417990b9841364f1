"""The handles that take hooks away again."""

import weakref
from collections import OrderedDict


class RemovableHandle:
    """Takes a hook off the dictionary it was put into, by `remove()` or at the end of a `with` block."""

    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=()):
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = extra_dict if isinstance(extra_dict, (list, tuple)) else (extra_dict,)
        self._dicts = [weakref.ref(d) for d in (hooks_dict, *extra)]

    def remove(self):
        """Takes the hook off; a second call does nothing."""
        for reference in self._dicts:
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()

    def __getstate__(self):
        return [reference() for reference in self._dicts], self.id

    def __setstate__(self, state):
        dicts, self.id = state
        self._dicts = [weakref.ref(OrderedDict() if d is None else d) for d in dicts]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)


class CallHandle(RemovableHandle):
    """The handle of a hook that C++ holds: remove() calls a function, once."""

    def __init__(self, remove):
        super().__init__(OrderedDict())
        self._remove = remove

    def remove(self):
        """Takes the hook away; nothing the second time."""
        if self._remove is not None:
            remove, self._remove = self._remove, None
            remove()
