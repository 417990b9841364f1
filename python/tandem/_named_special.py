"""torch.i0, igamma and igammac, and their methods: tandem.special has them, and is imported when one is called."""

from . import _C

_OTHER_NAMES = {"i0": "i0", "igamma": "gammainc", "igammac": "gammaincc"}


def _function(name):
    def function(input, *args, **kwargs):
        from tandem import special

        return getattr(special, _OTHER_NAMES[name])(input, *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"special.{_OTHER_NAMES[name]}."
    return function


def _in_place(function):
    def changed(input, *args):
        return input.copy_(function(input, *args))

    changed.__name__ = changed.__qualname__ = function.__name__ + "_"
    changed.__doc__ = f"{function.__name__}, into input."
    return changed


i0, igamma, igammac = map(_function, _OTHER_NAMES)
i0_ = _in_place(i0)
for _name, _each in {
    "i0": i0,
    "igamma": igamma,
    "igammac": igammac,
    "i0_": i0_,
    "igamma_": _in_place(igamma),
    "igammac_": _in_place(igammac),
}.items():
    _C._extend(_C.Tensor, _name, _each)
