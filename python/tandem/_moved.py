"""Classes that say they are from another module than the one that has their source."""


def say_from(cls, module):
    """Gives the class that `__module__`. Python 3.13 forgets the line of its source then, which inspect needs: it is kept."""
    line = vars(cls).get("__firstlineno__")
    cls.__module__ = module
    if line is not None:
        cls.__firstlineno__ = line
