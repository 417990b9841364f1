"""torch.autograd.grad_mode: what switches recording off and on, by another place."""

from .._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
