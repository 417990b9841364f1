"""RAdam: Adam whose first steps are rectified for the few gradients they have seen."""
from tandem.optim.native import NativeOptimizer, _check_flags
from tandem.optim.optimizer import _check_betas, _check_lr, _check_not_negative


class RAdam(NativeOptimizer):
    """Liu and others, "On the variance of the adaptive learning rate and beyond"."""

    _native_name = "RAdam"
    _options = ("lr", "betas", "eps", "weight_decay", "decoupled_weight_decay", "maximize")
    _state_names = ("step", "exp_avg", "exp_avg_sq")

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *, foreach=None,
        maximize=False, capturable=False, differentiable=False,
    ):
        _check_lr(lr)
        _check_not_negative("epsilon value", eps)
        _check_betas(betas)
        _check_not_negative("weight_decay value", weight_decay)
        _check_flags(differentiable)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        })
