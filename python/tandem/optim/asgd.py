"""ASGD: averaged stochastic gradient descent."""
from tandem.optim.native import NativeOptimizer, _check_flags
from tandem.optim.optimizer import _check_lr, _check_not_negative


class ASGD(NativeOptimizer):
    """Polyak and Juditsky, "Acceleration of stochastic approximation by averaging"; the average is the state's `ax`."""

    _native_name = "ASGD"
    _options = ("lr", "lambd", "alpha", "t0", "weight_decay", "maximize")
    _state_names = ("step", "eta", "mu", "ax")
    _counts = {"step": 0, "eta": 0.0, "mu": 1.0}

    def __init__(
        self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False, differentiable=False,
        capturable=False,
    ):
        _check_lr(lr)
        _check_not_negative("weight_decay value", weight_decay)
        _check_not_negative("lambd value", lambd)
        _check_not_negative("alpha value", alpha)
        _check_flags(differentiable)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })
