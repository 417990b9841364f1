"""RMSprop: steps scaled by a running mean of the squared gradient."""
from tandem.optim.native import NativeOptimizer, _check_flags
from tandem.optim.optimizer import _check_lr, _check_not_negative


class RMSprop(NativeOptimizer):
    """Hinton's lecture notes; with `centered`, Graves, "Generating sequences with recurrent neural networks"."""

    _native_name = "RMSprop"
    _options = ("lr", "alpha", "eps", "weight_decay", "momentum", "centered", "maximize")
    _state_names = ("step", "square_avg", "grad_avg", "momentum_buffer")

    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False, foreach=None,
        maximize=False, differentiable=False,
    ):
        _check_lr(lr)
        _check_not_negative("epsilon value", eps)
        _check_not_negative("momentum value", momentum)
        _check_not_negative("weight_decay value", weight_decay)
        _check_not_negative("alpha value", alpha)
        _check_flags(differentiable)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        })
