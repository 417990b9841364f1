"""SGD: stochastic gradient descent, with momentum."""
from tandem.optim.native import NativeOptimizer, _check_flags
from tandem.optim.optimizer import _check_lr, _check_not_negative


class SGD(NativeOptimizer):
    """p -= lr * v, where v = momentum * v + (1 - dampening) * (gradient + weight_decay * p) and starts as the first gradient."""

    _native_name = "SGD"
    _options = ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")
    _state_names = ("momentum_buffer",)
    _counts = {}

    def __init__(
        self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None,
        differentiable=False, fused=None,
    ):
        _check_lr(lr)
        _check_not_negative("momentum value", momentum)
        _check_not_negative("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        _check_flags(differentiable, foreach, fused)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        })
