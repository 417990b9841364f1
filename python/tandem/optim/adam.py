"""Adam: steps scaled by running means of the gradient and of its square."""
from tandem import _C
from tandem.optim.native import NativeOptimizer, _check_flags
from tandem.optim.optimizer import _check_betas, _check_lr, _check_not_negative


class Adam(NativeOptimizer):
    """Kingma and Ba, "Adam: a method for stochastic optimization". `decoupled_weight_decay` makes it AdamW."""

    _options = ("lr", "betas", "eps", "weight_decay", "amsgrad", "maximize")
    _state_names = ("step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq")

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None, maximize=False,
        capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False,
    ):
        if isinstance(lr, _C.Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        _check_lr(lr)
        _check_not_negative("epsilon value", eps)
        _check_betas(betas)
        _check_not_negative("weight_decay value", weight_decay)
        _check_flags(differentiable, foreach, fused)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        })

    @property
    def _native_name(self):
        return "AdamW" if self.defaults.get("decoupled_weight_decay") else "Adam"
