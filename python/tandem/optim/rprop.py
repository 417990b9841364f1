"""Rprop: only the sign of the gradient counts, and whether it stays."""
from tandem.optim.native import NativeOptimizer, _check_flags
from tandem.optim.optimizer import _check_lr


class Rprop(NativeOptimizer):
    """Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning: the RPROP algorithm"."""

    _native_name = "Rprop"
    _options = ("lr", "etas", "step_sizes", "maximize")
    _state_names = ("step", "prev", "step_size")

    def __init__(
        self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False,
        differentiable=False,
    ):
        _check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        _check_flags(differentiable)
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        })
