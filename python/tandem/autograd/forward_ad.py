"""Forward mode: dual tensors, whose results know their derivative along a direction, as torch.autograd.forward_ad.

A dual tensor takes part in the graph of gradients, and the tangent of a result is the Jacobian's product with the directions of all dual tensors,
by backward twice, when it is asked for. So duals say requires_grad, what is computed under no_grad has no tangent, and what is
differentiated needs a backward that can be differentiated itself.
"""

from collections import namedtuple

from .. import _C
from .._grad_mode import enable_grad

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])
UnpackedDualTensor.__doc__ = "What unpack_dual gives: a tensor's value, and its derivative along the direction, None where it has none."

_current_level = -1
_duals = []  # of the level: the tensors that were made dual, with their tangents
_own = set()  # ids of those among them that are leaves made for this alone


def is_active():
    """Whether a level was entered."""
    return _current_level >= 0


def enter_dual_level():
    """Enters the level; dual tensors live until it is left. There is one: levels do not nest."""
    global _current_level
    if _current_level >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _current_level = 0
    return 0


def exit_dual_level(*, level=None):
    """Leaves the level: tensors have no tangents any more."""
    global _current_level
    if _current_level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    if level is not None and level != _current_level:
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    _current_level = -1
    _duals.clear()
    _own.clear()


class dual_level:
    """with dual_level(): the block in which dual tensors are made and unpacked. Also a decorator."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *error):
        exit_dual_level()

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with dual_level():
                return function(*args, **kwargs)

        return wrapped


def _check(what, tensor):
    if not tensor.is_floating_point():
        raise ValueError(f"Expected {what} to be floating point or complex, but got: {tensor.dtype}")


def make_dual(tensor, tangent, *, level=None):
    """The tensor's values with `tangent` as their direction. It shares the tensor's memory, and its history where it has one."""
    if (_current_level if level is None else level) < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    _check("primal", tensor)
    _check("tangent", tangent)
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
            f"Tensor is of size {list(tensor.shape)} while the given forward gradient is of size {list(tangent.shape)}."
        )
    if any(tensor is dual for dual, _ in _duals):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported."
        )
    with enable_grad():
        if tensor.requires_grad:
            dual = tensor.view_as(tensor)
        else:
            dual = tensor.detach().requires_grad_()
            _own.add(id(dual))
    _duals.append((dual, tangent if tangent.dtype is tensor.dtype else tangent.to(tensor.dtype)))
    return dual


def unpack_dual(tensor, *, level=None):
    """The tensor's value and its tangent: None outside a level, and of what depends on no dual tensor."""
    from ..func.derivatives import released  # which imports this package

    if (_current_level if level is None else level) < 0:
        return UnpackedDualTensor(tensor, None)
    tangent = next((tangent for dual, tangent in _duals if dual is tensor), None)
    if tangent is None and tensor.requires_grad and _duals:
        with enable_grad():
            tangent = _along(tensor)
        tangent = tangent if tangent is None else released(tangent, _own)
    return UnpackedDualTensor(released(tensor, _own), tangent)


def _along(output):
    """The output's Jacobian by the dual tensors times their directions: backward is linear in its weight, and backward through it is this."""
    from . import grad

    inputs, directions = zip(*_duals)
    weight = _C.zeros_like(output).requires_grad_()
    back = grad([output], inputs, [weight], retain_graph=True, create_graph=True, allow_unused=True)
    if all(one is None for one in back):
        return None
    reached = [(one, direction) for one, direction in zip(back, directions) if one is not None and one.requires_grad]
    if not reached:
        return _C.zeros_like(output)
    results, given = zip(*reached)
    found = grad(results, [weight], given, retain_graph=True, create_graph=True, allow_unused=True)[0]
    return _C.zeros_like(output) if found is None else found
