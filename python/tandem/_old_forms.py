"""Calls that fit no signature: with dtypes that no tensor has, of classes with __torch_function__, and with the scalars in front of the tensors, as old programs have them.

x.add_(0.5, y), torch.addmm(beta, m, alpha, a, b)
"""

import warnings

from . import _C

_LINEAR, _SCALED = ("alpha",), ("value",)  # the scalar that stands before the tensors
_PRODUCTS = {
    "addmm": ("mat1", "mat2"), "addmv": ("mat", "vec"), "addr": ("vec1", "vec2"), "addbmm": ("batch1", "batch2"),
    "baddbmm": ("batch1", "batch2"),
}
_TENSORS = {
    **{name: ("other",) for name in ("add", "sub")}, **{name: ("tensor1", "tensor2") for name in ("addcmul", "addcdiv")}, **_PRODUCTS,
}
_told = False


def _forms(name, is_method):
    """The old orders of the parameters, those of a method after the tensor itself."""
    tensors = _TENSORS[name]
    own = () if is_method else ("input",)
    if name in _PRODUCTS:
        return [("beta", *own, "alpha", *tensors), ("beta", *own, *tensors)]
    return [(*own, *(_SCALED if name.startswith("addc") else _LINEAR), *tensors)]


def _given(form, args, kwargs):
    """The arguments by their names where they are those of the form, else None."""
    given = dict(zip(form, args))
    if len(args) > len(form) or any(name in given or name not in (*form, "out") for name in kwargs):
        return None
    given.update(kwargs)
    if any(name not in given for name in form):
        return None
    fits = all(isinstance(given[name], (int, float) if name in ("alpha", "beta", "value") else _C.Tensor) for name in form)
    return given if fits else None


def _text(names):
    return ", ".join(f"{'Number' if name in ('alpha', 'beta', 'value') else 'Tensor'} {name}" for name in names)


def _warn(name, form, is_method):
    """PyTorch's words about the old form, once in a process."""
    global _told
    if _told:
        return
    _told = True
    numbers = [name for name in ("beta", "alpha", "value") if name in form or name == "alpha" and "beta" in form]
    tensors = [name for name in form if name not in numbers]
    defaults = ", ".join(f"Number {number} = 1" for number in numbers)
    out = "" if is_method else ", Tensor out = None"
    warnings.warn(
        f"This overload of {name} is deprecated:\n\t{name}({_text(form)}{', *' + out if out else ''})\n"
        f"Consider using one of the following signatures instead:\n\t{name}({_text(tensors)}, *, {defaults}{out})", stacklevel=3)


def _asking(value):
    """The objects in a value, and in its lists, whose classes have __torch_function__."""
    if isinstance(value, (tuple, list)):
        return [found for one in value for found in _asking(one)]
    return [value] if hasattr(type(value), "__torch_function__") else []


def call(name, is_method, args, kwargs):
    """The result of a call that no signature takes; NotImplemented where there is none. A method's own tensor is the first of `args`."""
    foreign = next((one for one in (*args, *kwargs.values()) if isinstance(one, _C._foreign_dtype)), None)
    if foreign is not None:
        raise NotImplementedError(f"{name}: tandem has no tensors of {foreign!r}")
    asking = _asking([*args, *kwargs.values()])
    function = getattr(_C.Tensor if is_method else _C, name, None) if asking else None
    if function is not None:
        from .overrides import handle_torch_function

        return handle_torch_function(function, asking, *args, **kwargs)
    plain = name.removesuffix("_")
    if plain not in _TENSORS or (not is_method and plain != name):
        return NotImplemented
    own, rest = (args[:1], args[1:]) if is_method else ((), args)
    for form in _forms(plain, is_method):
        given = _given(form, rest, kwargs)
        if given is not None and not (is_method and "out" in given):
            _warn(name, form, is_method)
            first = own or (given.pop("input"),)
            return getattr(_C.Tensor if is_method else _C, name)(*first, *(given.pop(tensor) for tensor in _TENSORS[plain]), **given)
    return NotImplemented


def use():
    """Lets the operations in C++ ask for old forms before they refuse a call: the calls that fit cost nothing more."""
    _C._set_old_forms(call)
