"""The layers, a file for each kind. tandem.nn has the list of them; each is found here, too."""


def __getattr__(name):
    """A layer by its name."""
    from tandem import nn

    layer = vars(nn).get(name)
    if not isinstance(layer, type):
        raise AttributeError(f"module 'tandem.nn.modules' has no attribute '{name}'")
    return layer


def __dir__():
    from tandem import nn

    return sorted({*globals(), *(name for name, value in vars(nn).items() if isinstance(value, type))})
