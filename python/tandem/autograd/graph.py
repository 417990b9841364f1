"""The graph of gradients as an object: nodes, and hooks of several gradients."""

from .. import _C
from .._hooks import CallHandle

Node = _C.Node


class GradientEdge(tuple):
    """A node and the number of its result."""

    __slots__ = ()

    def __new__(cls, node, output_nr):
        return tuple.__new__(cls, (node, output_nr))

    node = property(lambda self: self[0])
    output_nr = property(lambda self: self[1])


def get_gradient_edge(tensor):
    """Where the gradient of a tensor comes in."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(tensor.grad_fn, tensor.output_nr)


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Calls fn with the gradients of all these tensors once each has come, or with the first that comes (mode 'any')."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = list(tensors)
    state = {"grads": {}, "queued": False}

    def finish():
        grads, state["grads"], state["queued"] = state["grads"], {}, False
        if mode == "all":
            fn([grads.get(i) for i in range(len(tensors))])

    def hook_of(i):
        def hook(grad):
            if not state["queued"]:
                state["queued"] = True
                _C._queue_callback(finish)
                if mode == "any":
                    fn(grad)
            state["grads"][i] = grad
        return hook
    handles = [t.register_hook(hook_of(i)) for i, t in enumerate(tensors)]
    return CallHandle(lambda: [handle.remove() for handle in handles])


def increment_version(tensor):
    """Notes a change in place of a tensor, or of several, so that backward refuses where it needs what they were before."""
    for one in (tensor,) if isinstance(tensor, _C.Tensor) else tensor:
        before = _C._set_grad_enabled(False)
        try:
            one.copy_(one.clone())
        finally:
            _C._set_grad_enabled(before)


def queue_callback(callback):
    """Calls callback() when the backward that is running has ended."""
    _C._queue_callback(callback)
