"""Adamax: Adam with the infinity norm."""
from tandem.optim.native import NativeOptimizer, _check_flags
from tandem.optim.optimizer import _check_betas, _check_lr, _check_not_negative


class Adamax(NativeOptimizer):
    """Kingma and Ba, "Adam: a method for stochastic optimization", section 7."""

    _native_name = "Adamax"
    _options = ("lr", "betas", "eps", "weight_decay", "maximize")
    _state_names = ("step", "exp_avg", "exp_inf")

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False, differentiable=False,
        capturable=False,
    ):
        _check_lr(lr)
        _check_not_negative("epsilon value", eps)
        _check_betas(betas)
        _check_not_negative("weight_decay value", weight_decay)
        _check_flags(differentiable)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        })
