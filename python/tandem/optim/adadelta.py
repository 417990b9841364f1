"""Adadelta: steps scaled by running means of squared steps and squared gradients."""
from tandem.optim.native import NativeOptimizer, _check_flags
from tandem.optim.optimizer import _check_lr, _check_not_negative


class Adadelta(NativeOptimizer):
    """Zeiler, "ADADELTA: an adaptive learning rate method"."""

    _native_name = "Adadelta"
    _options = ("lr", "rho", "eps", "weight_decay", "maximize")
    _state_names = ("step", "square_avg", "acc_delta")

    def __init__(
        self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False, differentiable=False
    ):
        _check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        _check_not_negative("epsilon value", eps)
        _check_not_negative("weight_decay value", weight_decay)
        _check_flags(differentiable)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable,
        })
