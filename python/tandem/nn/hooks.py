"""Handles that take hooks off again, hooks that all modules share, and what a module's backward hooks see gradients by."""

import functools
from collections import OrderedDict

from tandem import _C
from tandem._hooks import RemovableHandle


# What the functions register_module_*_hook filled: hooks of every module, called before a module's own.
global_forward_pre_hooks = OrderedDict()
global_forward_hooks = OrderedDict()
global_forward_hooks_with_kwargs = OrderedDict()
global_forward_hooks_always_called = OrderedDict()
global_backward_pre_hooks = OrderedDict()
global_backward_hooks = OrderedDict()
global_registration_hooks = {"parameter": OrderedDict(), "buffer": OrderedDict(), "module": OrderedDict()}


def add_hook(hooks, hook, *, prepend=False, marks=()):
    """Puts the hook into `hooks`, and its number into those dictionaries of `marks` that are given; returns the handle."""
    handle = RemovableHandle(hooks, extra_dict=marks)
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
        for mark in marks:
            mark.move_to_end(handle.id, last=False)
    return handle


def register_module_forward_pre_hook(hook):
    """Calls `hook(module, args)` before the forward of every module."""
    return add_hook(global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Calls `hook(module, args, output)` after the forward of every module."""
    marks = [global_forward_hooks_with_kwargs] * with_kwargs + [global_forward_hooks_always_called] * always_call
    return add_hook(global_forward_hooks, hook, marks=marks)


def register_module_full_backward_pre_hook(hook):
    """Calls `hook(module, grad_output)` before the gradients of every module's inputs are computed."""
    return add_hook(global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """Calls `hook(module, grad_input, grad_output)` when the gradients of a module's inputs are known, for every module."""
    return add_hook(global_backward_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Calls `hook(module, name, parameter)` where a module is given a parameter; what it returns, if anything, is registered instead."""
    return add_hook(global_registration_hooks["parameter"], hook)


def register_module_buffer_registration_hook(hook):
    """Calls `hook(module, name, buffer)` where a module is given a buffer; what it returns, if anything, is registered instead."""
    return add_hook(global_registration_hooks["buffer"], hook)


def register_module_module_registration_hook(hook):
    """Calls `hook(module, name, child)` where a module is given a child; what it returns, if anything, is registered instead."""
    return add_hook(global_registration_hooks["module"], hook)


class BackwardHooks:
    """One call's backward hooks: `watch_inputs` before forward and `watch_outputs` after it mark where gradients leave and enter."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_output = None
        self.input_count = 0
        self.inputs_watched = False

    def watch_inputs(self, args):
        """The arguments, with tensors that want a gradient replaced by aliases whose gradients are seen."""
        self.input_count = len(args)
        if not self.hooks or not _C.is_grad_enabled():
            return args
        positions = [i for i, a in enumerate(args) if isinstance(a, _C.Tensor)]
        if not any(args[i].requires_grad for i in positions):
            return args
        self.inputs_watched = True
        return self._replace(args, positions, self._on_grad_input)

    def watch_outputs(self, output):
        """The output, with its tensors replaced by aliases whose gradients are seen."""
        if not _C.is_grad_enabled():
            return output
        outputs = output if isinstance(output, tuple) else (output,)
        positions = [i for i, o in enumerate(outputs) if isinstance(o, _C.Tensor)]
        if not any(outputs[i].requires_grad for i in positions):
            return output
        outputs = self._replace(outputs, positions, self._on_grad_output)
        return outputs if isinstance(output, tuple) else outputs[0]

    def _replace(self, values, positions, on_gradients):
        aliases = _watch(on_gradients, len(values), positions, [values[i] for i in positions])
        replaced = list(values)
        for position, alias in zip(positions, aliases):
            replaced[position] = alias
        if type(values) is not tuple and hasattr(values, "_fields"):
            return type(values)(*replaced)
        return tuple(replaced)

    def _on_grad_output(self, gradients):
        for hook in self.pre_hooks:
            result = hook(self.module, gradients)
            if result is not None:
                gradients = _as_gradients(result, len(gradients), "pre-hook")
        self.grad_output = gradients
        if not self.inputs_watched:
            for hook in self.hooks:
                result = hook(self.module, (None,) * self.input_count, gradients)
                if result is not None and any(g is not None for g in _as_tuple(result)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for all gradients."
                    )
        return gradients

    def _on_grad_input(self, gradients):
        for hook in self.hooks:
            result = hook(self.module, gradients, self.grad_output)
            if result is not None:
                gradients = _as_gradients(result, len(gradients), "hook")
        return gradients


def _as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def _as_gradients(result, count, kind):
    result = _as_tuple(result)
    if len(result) != count:
        raise RuntimeError(f"Backward {kind} returned an invalid number of grad_input, got {len(result)}, but expected {count}")
    return result


def _watch(on_gradients, count, positions, tensors):
    """Aliases of the tensors; their gradients go through `on_gradients`, which sees None for values that are no tensors."""
    return _watch_function().apply(on_gradients, count, positions, *tensors)


@functools.cache
def _watch_function():
    from tandem.autograd import Function

    class Watch(Function):
        """The identity, whose gradients a function of Python sees and may replace."""

        @staticmethod
        def forward(ctx, on_gradients, count, positions, *tensors):
            ctx.on_gradients, ctx.count, ctx.positions = on_gradients, count, positions
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
            return tuple(t.view_as(t) if t.requires_grad else t for t in tensors)

        @staticmethod
        def backward(ctx, *gradients):
            seen = [None] * ctx.count
            for position, gradient in zip(ctx.positions, gradients):
                seen[position] = gradient
            seen = ctx.on_gradients(tuple(seen))
            return (None, None, None, *[seen[position] for position in ctx.positions])

    return Watch
