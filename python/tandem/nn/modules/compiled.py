"""The module that tandem.compile makes of another one."""

from tandem import _C
from tandem.nn.modules.module import Module

# What belongs to the compiled module itself; all other attributes are those of the module in it.
_OWN = ("_orig_mod", "_compiled", "training")


class OptimizedModule(Module):
    """Calls `_orig_mod`, or the steps that were learned of it. Its attributes are that module's."""

    def __init__(self, module):
        super().__init__()
        self._orig_mod = module
        self.__dict__["_compiled"] = _C.Compiled(module, module)
        self.__dict__["training"] = module.training

    def forward(self, *args, **kwargs):
        """The module's result."""
        return self._compiled(*args, **kwargs)

    @property
    def why(self):
        """Why the last call was the module's own forward; empty where it was not."""
        return self._compiled.why

    def steps(self):
        """What the last call consisted of, a step a line; empty where the module was called."""
        return self._compiled.steps()

    def __getattr__(self, name):
        if name in _OWN:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if name in _OWN or "_compiled" not in self.__dict__:
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        delattr(self._orig_mod, name)

    def __reduce__(self):
        return OptimizedModule, (self._orig_mod,)

    def __deepcopy__(self, memo):
        import copy

        return OptimizedModule(copy.deepcopy(self._orig_mod, memo))
