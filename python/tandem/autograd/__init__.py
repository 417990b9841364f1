"""Automatic differentiation: backward and grad of several tensors, functions of one's own, checks by finite differences."""

from .. import _C
from .._grad_mode import enable_grad, inference_mode, keeps_graphs, no_grad, set_grad_enabled
from . import forward_ad, functional, grad_mode, graph, profiler
from .anomaly_mode import detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly
from .function import Function, FunctionCtx, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = ["Function", "FunctionCtx", "GradcheckError", "Variable", "backward", "detect_anomaly", "enable_grad", "forward_ad", "function", "functional", "grad", "gradcheck",
           "gradgradcheck", "graph", "inference_mode", "no_grad", "once_differentiable", "profiler", "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled"]


def _list(tensors):
    return [] if tensors is None else [tensors] if isinstance(tensors, _C.Tensor) else list(tensors)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Adds the gradients of the tensors, each weighted by its grad_tensor, to the .grad of all leaves, or of `inputs` alone."""
    if inputs is not None and len(_list(inputs)) == 0:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    weights = _list(grad_tensors if grad_variables is None else grad_variables)
    _C._backward(_list(tensors), weights, keeps_graphs() or (create_graph if retain_graph is None else retain_graph), create_graph, _list(inputs))


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None, is_grads_batched=False,
         materialize_grads=False):
    """The gradients of outputs with respect to inputs; adds to no .grad."""
    if not only_inputs:
        raise ValueError("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of the graph, "
                         "please use torch.autograd.backward.")
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if is_grads_batched:
        raise NotImplementedError("grad: is_grads_batched")
    wanted = _list(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    keep = keeps_graphs() or (create_graph if retain_graph is None else retain_graph)
    found = _C._grad(_list(outputs), wanted, _list(grad_outputs), keep, create_graph, allow_unused)
    if materialize_grads:
        found = tuple(_C.zeros_like(x) if g is None else g for g, x in zip(found, wanted))
    return found


class _AnyTensor(type):
    """Tensors are instances of Variable."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.Tensor)


class Variable(metaclass=_AnyTensor):
    """The old name of a tensor: Variable(x) is a tensor, and every tensor is a Variable."""

    def __new__(cls, data, requires_grad=False, volatile=False):
        made = data.detach() if requires_grad != data.requires_grad else data
        return made.requires_grad_(requires_grad) if requires_grad else made


class set_multithreading_enabled:
    """Accepted, as a call and as a context: backward runs on one thread of its own for each device in any case."""

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None
