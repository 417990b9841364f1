"""tandem.compile: accepted. The operations of Python modules run as they are called."""


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    """The module or function itself; as a decorator too. Graphs are compiled for modules of C++ (tandem::compile)."""
    if model is None:
        return lambda wrapped: wrapped
    return model
