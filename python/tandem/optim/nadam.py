"""NAdam: Adam with Nesterov momentum."""
from tandem.optim.native import NativeOptimizer, _check_flags
from tandem.optim.optimizer import _check_betas, _check_lr, _check_not_negative


class NAdam(NativeOptimizer):
    """Dozat, "Incorporating Nesterov momentum into Adam"."""

    _native_name = "NAdam"
    _options = ("lr", "betas", "eps", "weight_decay", "momentum_decay", "decoupled_weight_decay", "maximize")
    _state_names = ("step", "mu_product", "exp_avg", "exp_avg_sq")
    _counts = {"step": 0, "mu_product": 1.0}

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, decoupled_weight_decay=False, *,
        foreach=None, maximize=False, capturable=False, differentiable=False,
    ):
        _check_lr(lr)
        _check_not_negative("epsilon value", eps)
        _check_betas(betas)
        _check_not_negative("weight_decay value", weight_decay)
        _check_not_negative("momentum_decay value", momentum_decay)
        _check_flags(differentiable)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable,
        })
