"""Where a module keeps its parameters, buffers and children by name."""

from weakref import ref


class Registry(dict):
    """A dictionary that also writes its entries into its module's `__dict__`, where Python finds an attribute at once.

    It is a plain dict for whoever reads, changes, copies or pickles it."""

    __slots__ = ("_owner",)

    def __init__(self, owner, entries=()):
        self._owner = ref(owner)
        self.update(entries)

    def __setitem__(self, name, value):
        dict.__setitem__(self, name, value)
        owner = self._owner()
        if owner is not None:
            owner.__dict__[name] = value

    def _forget(self, name):
        owner = self._owner()
        if owner is not None:
            owner.__dict__.pop(name, None)

    def __delitem__(self, name):
        dict.__delitem__(self, name)
        self._forget(name)

    def pop(self, name, *default):
        if name in self:
            self._forget(name)
        return dict.pop(self, name, *default)

    def popitem(self):
        name, value = dict.popitem(self)
        self._forget(name)
        return name, value

    def clear(self):
        for name in self:
            self._forget(name)
        dict.clear(self)

    def update(self, *args, **kwargs):
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __ior__(self, other):
        self.update(other)
        return self

    def setdefault(self, name, default=None):
        if name not in self:
            self[name] = default
        return self[name]

    def move_to_end(self, name, last=True):
        """As OrderedDict's: the entry becomes the last, or the first."""
        value = dict.pop(self, name)
        others = {} if last else dict(self)
        if not last:
            dict.clear(self)
        dict.__setitem__(self, name, value)
        for other, entry in others.items():
            dict.__setitem__(self, other, entry)

    def copy(self):
        return dict(self)

    def __reduce_ex__(self, protocol):
        return dict, (dict(self),)
