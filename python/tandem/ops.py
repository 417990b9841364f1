"""Operations by namespaces, as torch.ops: those of torch.library as ops.mylib.name, and tandem's own as ops.aten.name."""

from tandem import _C

_namespaces = {}


class OpNamespace:
    """The operations of one namespace."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if self._name == "aten" and not name.startswith("_") and callable(getattr(_C, name, None)):
            return _Packet(f"aten.{name}", getattr(_C, name))
        raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")

    def __repr__(self):
        return f"<module 'torch.ops.{self._name}' from 'torch.ops'>"


class _Packet:
    """An operation; `default` is itself, which has one form."""

    def __init__(self, name, function):
        self._name, self._function = name, function

    @property
    def default(self):
        """The operation."""
        return _Packet(f"{self._name}.default", self._function)

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __eq__(self, other):
        return isinstance(other, _Packet) and (self._name, self._function) == (other._name, other._function)

    def __hash__(self):
        return hash(self._name)

    def __str__(self):
        return self._name

    def __repr__(self):
        return f"<OpOverload(op='{self._name}')>"


def add(namespace, name, function):
    """Makes a function the operation of this name."""
    space = _namespaces.setdefault(namespace, OpNamespace(namespace))
    setattr(space, name, _Packet(f"{namespace}.{name}", function))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'tandem.ops' has no attribute '{name}'")
    return _namespaces.setdefault(name, OpNamespace(name))
