"""Hooks before and after a module's forward and backward, and the call that runs them."""

import warnings

from tandem import _C
from tandem.nn import hooks as _hooks
from tandem.nn.hooks import BackwardHooks, add_hook


class ModuleHooks:
    """The part of Module that knows hooks."""

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Calls `hook(module, args)` before forward; it may return other arguments. With `with_kwargs`, `hook(module, args, kwargs)`."""
        marks = [self._forward_pre_hooks_with_kwargs] * with_kwargs
        return add_hook(self._forward_pre_hooks, hook, prepend=prepend, marks=marks)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Calls `hook(module, args, output)` after forward; it may return another output. With `with_kwargs`,
        `hook(module, args, kwargs, output)`; with `always_call`, also where forward raised."""
        marks = [self._forward_hooks_with_kwargs] * with_kwargs + [self._forward_hooks_always_called] * always_call
        return add_hook(self._forward_hooks, hook, prepend=prepend, marks=marks)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Calls `hook(module, grad_output)` before this module's gradients are computed; it may return other gradients."""
        return add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Calls `hook(module, grad_input, grad_output)` when the gradients of the inputs are known; it may return others for grad_input."""
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = True
        return add_hook(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook):
        """The older form of register_full_backward_hook; here both see the same gradients."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = False
        return add_hook(self._backward_hooks, hook)

    def _call_with_hooks(self, args, kwargs):
        """A call of forward with all hooks before and after it."""
        called = set()
        try:
            return self._run_hooks_and_forward(args, kwargs, called)
        except Exception:
            self._call_remaining_hooks(args, kwargs, called)
            raise

    def _run_hooks_and_forward(self, args, kwargs, called):
        args, kwargs = self._run_forward_pre_hooks(args, kwargs)
        backward_hooks = None
        hooks = [*_hooks.global_backward_hooks.values(), *self._backward_hooks.values()]
        pre_hooks = [*_hooks.global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]
        if hooks or pre_hooks:
            backward_hooks = BackwardHooks(self, hooks, pre_hooks)
            args = backward_hooks.watch_inputs(args)
        output = self.forward(*args, **kwargs)
        for key, hook, with_kwargs in self._all_forward_hooks():
            called.add(key)
            result = hook(self, args, kwargs, output) if with_kwargs else hook(self, args, output)
            if result is not None:
                output = result
        if backward_hooks is not None:
            if not isinstance(output, (_C.Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                    f"{type(output)}",
                    stacklevel=3,
                )
                return output
            output = backward_hooks.watch_outputs(output)
        return output

    def _run_forward_pre_hooks(self, args, kwargs):
        for key, hook in [*_hooks.global_forward_pre_hooks.items(), *self._forward_pre_hooks.items()]:
            if key in self._forward_pre_hooks_with_kwargs:
                result = hook(self, args, kwargs)
                if result is not None:
                    if not isinstance(result, tuple) or len(result) != 2:
                        raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}.")
                    args, kwargs = result
            else:
                result = hook(self, args)
                if result is not None:
                    args = result if isinstance(result, tuple) else (result,)
        return args, kwargs

    def _all_forward_hooks(self):
        """Key, hook and whether it wants keyword arguments: first those of all modules, then this one's."""
        shared = [(k, h, k in _hooks.global_forward_hooks_with_kwargs) for k, h in _hooks.global_forward_hooks.items()]
        return shared + [(k, h, k in self._forward_hooks_with_kwargs) for k, h in self._forward_hooks.items()]

    def _call_remaining_hooks(self, args, kwargs, called):
        """After an error: those hooks that are always called and were not yet."""
        always = {**_hooks.global_forward_hooks_always_called, **self._forward_hooks_always_called}
        for key, hook, with_kwargs in self._all_forward_hooks():
            if key not in always or key in called:
                continue
            try:
                hook(self, args, kwargs, None) if with_kwargs else hook(self, args, None)
            except Exception as error:
                warnings.warn(
                    "forward hook with ``always_call=True`` raised an exception that was silenced as another error was raised in forward: "
                    + str(error),
                    stacklevel=3,
                )
