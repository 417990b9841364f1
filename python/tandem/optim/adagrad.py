"""Adagrad: steps scaled by the sum of squared gradients."""
from tandem.optim.native import NativeOptimizer, _check_flags
from tandem.optim.optimizer import _check_lr, _check_not_negative


class Adagrad(NativeOptimizer):
    """Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic optimization"."""

    _native_name = "Adagrad"
    _options = ("lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps", "maximize")
    _state_names = ("step", "sum")

    def __init__(
        self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *, maximize=False,
        differentiable=False, fused=None,
    ):
        _check_lr(lr)
        _check_not_negative("lr_decay value", lr_decay)
        _check_not_negative("weight_decay value", weight_decay)
        _check_not_negative("initial_accumulator_value value", initial_accumulator_value)
        _check_not_negative("epsilon value", eps)
        _check_flags(differentiable, foreach, fused)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        })
