"""Differentiable functions of one's own: forward and backward as static methods of a class."""

import functools
from typing import Any

from .. import _C
from .._grad_mode import enable_grad, no_grad
from . import forward_ad

Tensor = _C.Tensor


class FunctionCtx:
    """What forward leaves for backward."""

    def __init__(self):
        self._to_save = ()
        self._for_forward = None
        self._saved = None
        self._not_differentiable = ()
        self._dirty = ()
        self._materialize = True
        self.needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Keeps tensors, inputs or outputs among them, with the version they have now."""
        self._to_save = tensors

    def save_for_forward(self, *tensors):
        """Keeps tensors for jvp, which finds them in saved_tensors."""
        self._for_forward = tensors

    def mark_dirty(self, *args):
        """Inputs that forward has changed in place, and returns."""
        self._dirty = args

    def mark_non_differentiable(self, *args):
        """Outputs that get no history."""
        self._not_differentiable = args

    def set_materialize_grads(self, value):
        """With False, backward gets None where no gradient came, in place of zeros."""
        self._materialize = value

    @property
    def saved_tensors(self):
        """What save_for_backward kept; an error where one was changed in place since, or where the graph was walked already."""
        if self._saved is None:
            return tuple(self._to_save)
        kept = iter(self._saved.tensors())
        return tuple(next(kept) if there else None for there in self._there)


class _Meta(type):
    """The class that PyTorch makes beside each function has a name of its own."""


class Function(FunctionCtx, metaclass=_Meta):
    """Base of one's own function: static methods forward(ctx, ...) and backward(ctx, *grads), or forward(...) and setup_context(ctx, inputs, output). Called by apply."""

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    @classmethod
    def apply(cls, *args, **kwargs) -> Any:
        """Calls forward without recording, and records backward."""
        ctx = cls()
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        separate = cls.setup_context is not Function.setup_context
        with no_grad():
            if separate:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args, **kwargs)
        if not (_C.is_grad_enabled() and any(ctx.needs_input_grad)):
            return output
        outputs = output if isinstance(output, (tuple, list)) else (output,)
        recorded = [i for i, out in enumerate(outputs) if isinstance(out, Tensor) and out.is_floating_point() and not any(out is n for n in ctx._not_differentiable)]
        inputs = [a for a in args if isinstance(a, Tensor)]
        results = list(outputs)
        if recorded:
            _record(cls, ctx, args, inputs, recorded, outputs, results)
        if not isinstance(output, (tuple, list)):
            return results[0]
        return tuple(results)


def _record(cls, ctx, args, inputs, recorded, outputs, results):
    """Gives the outputs their history."""
    plain, changed = [], []
    for i in recorded:
        out = outputs[i]
        if any(out is d for d in ctx._dirty):
            changed.append(i)
        # An input that comes back as it is gets an object of its own, which has the history.
        plain.append(out.view(out.shape).detach() if any(out is a for a in inputs) and i not in changed else out)
    # What backward is told later. It must not hold the outputs: they hold it.
    backward, expected = cls.backward if cls.backward is not Function.backward else cls.vjp, len(args)
    if backward is Function.backward and cls.jvp is not Function.jvp and forward_ad.is_active():
        backward = _transposed(cls, ctx, args)
    takes = [isinstance(a, Tensor) for a in args]
    likes = [(out.shape, out.dtype, out.device) if isinstance(out, Tensor) and out.is_floating_point() else None for out in outputs]

    def run(*grads):
        every = [None] * len(likes)
        for i, grad in zip(recorded, grads):
            every[i] = grad
        if ctx._materialize:
            every = [_C.zeros(like[0], dtype=like[1], device=like[2]) if grad is None and like is not None else grad for grad, like in zip(every, likes)]
        found = backward(ctx, *every)
        found = found if isinstance(found, (tuple, list)) else (found,)
        if len(found) < expected or any(grad is not None for grad in found[expected:]):
            raise RuntimeError(f"function {cls.__name__}Backward returned an incorrect number of gradients (expected {expected}, got {len(found)})")
        return [grad for is_tensor, grad in zip(takes, found) if is_tensor]

    ctx._there = tuple(t is not None for t in ctx._to_save)
    # Outputs that are saved are saved as they are after this; the C++ side tells which these are.
    history, ctx._saved = _C._record_function(cls.__name__ + "Backward", inputs, plain, [t for t in ctx._to_save if t is not None], run)
    ctx._to_save = ()
    for i, result in zip(recorded, history):
        if i in changed and outputs[i] is not result:
            _C._change_history(outputs[i], result)
            result = outputs[i]
        results[i] = result


def _transposed(cls, ctx, args):
    """The backward of a function that has jvp alone: jvp is linear in the tangents, and backward through it is its transpose."""
    before, ctx._to_save = ctx._to_save, ctx._to_save if ctx._for_forward is None else ctx._for_forward
    with enable_grad():
        probes = [_C.zeros_like(a).requires_grad_() if isinstance(a, Tensor) and a.requires_grad else None for a in args]
        tangents = cls.jvp(ctx, *probes)
    ctx._to_save = before
    tangents = tangents if isinstance(tangents, (tuple, list)) else (tangents,)

    def backward(ctx, *grads):
        from . import grad
        used = [(tangent, weight) for tangent, weight in zip(tangents, grads) if tangent is not None and weight is not None and tangent.requires_grad]
        wanted = [probe for probe in probes if probe is not None]
        found = [None] * len(wanted)
        if used:
            outputs, weights = zip(*used)
            found = grad(outputs, wanted, weights, retain_graph=True, create_graph=_C.is_grad_enabled(), allow_unused=True)
        found = iter(found)
        return tuple(None if probe is None else next(found) for probe in probes)

    return backward


def once_differentiable(function):
    """A backward that is not differentiated itself: its gradients have no history."""
    @functools.wraps(function)
    def wrapped(ctx, *grads):
        with no_grad():
            return function(ctx, *grads)
    return wrapped


class InplaceFunction(Function):
    """The old base of functions that change their input."""


NestedIOFunction = Function
