"""Muon: momentum made orthogonal, for the matrices of hidden layers."""

import math

from tandem import _C
from tandem.optim._by_parameter import ByParameter
from tandem.optim.optimizer import _check_lr

__all__ = ["Muon"]


def _orthogonalized(update, coefficients, steps, eps):
    """About U Vᵀ of U S Vᵀ = update, by steps of Newton and Schulz in bfloat16."""
    a, b, c = coefficients
    tall = update.size(0) > update.size(1)
    X = update.to(_C.bfloat16)
    X = X.T if tall else X
    X = X / X.norm().clamp(min=eps)
    for _ in range(steps):
        square = X @ X.T
        X = _C.addmm(X, _C.addmm(square, square, square, beta=b, alpha=c), X, beta=a)
    return X.T if tall else X


class Muon(ByParameter):
    """Jordan and others, "Muon: an optimizer for hidden layers in neural networks" (2024). Parameters are matrices.

    adjust_lr_fn: 'original' (the default) or 'match_rms_adamw', how the step depends on a matrix's sizes.
    """

    def __init__(
        self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7,
        ns_steps=5, adjust_lr_fn=None,
    ):
        _check_lr(lr)
        if not 0.0 <= momentum:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn is not None and adjust_lr_fn not in ("original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        if len(ns_coefficients) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        if ns_steps >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov, "ns_coefficients": ns_coefficients,
            "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        })
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.dim() != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {parameter.size()}")

    def _step_of(self, parameter, group):
        state, momentum = self.state[parameter], group["momentum"]
        if not state:
            state["momentum_buffer"] = _C.zeros_like(parameter.grad)
        buffer = state["momentum_buffer"].lerp_(parameter.grad, 1 - momentum)
        update = parameter.grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = parameter.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            factor = 0.2 * math.sqrt(max(rows, columns))
        else:
            factor = math.sqrt(max(1, rows / columns))
        lr = float(group["lr"])
        parameter.mul_(1 - lr * group["weight_decay"])
        parameter.add_(update.to(parameter.dtype), alpha=-lr * factor)
