"""Adafactor: steps by the root of squared gradients that are kept as a row and a column for each matrix."""

import tandem
from tandem import _C
from tandem.optim._by_parameter import ByParameter
from tandem.optim.optimizer import _check_lr, _check_not_negative

__all__ = ["Adafactor"]


def _root_mean_square(tensor):
    return tensor.norm(2).item() / tensor.numel() ** 0.5


class Adafactor(ByParameter):
    """Shazeer and Stern, "Adafactor: adaptive learning rates with sublinear memory cost" (2018)."""

    def __init__(
        self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None, maximize=False
    ):
        _check_lr(lr)
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        _check_not_negative("weight_decay value", weight_decay)
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        })

    def _step_of(self, parameter, group):
        grad = -parameter.grad if group["maximize"] else parameter.grad
        state = self.state[parameter]
        if not state:
            state["step"] = _C.tensor(0.0, dtype=_C.float32)
            if grad.dim() > 1:
                state["row_var"] = grad.new_zeros((*grad.shape[:-1], 1))
                state["col_var"] = grad.new_zeros((*grad.shape[:-2], 1, grad.size(-1)))
            else:
                state["variance"] = _C.zeros_like(grad)
        state["step"] += 1
        step, lr = state["step"].item(), float(group["lr"])
        first, second = group["eps"]
        first = tandem.finfo(parameter.dtype).eps if first is None else first
        share = step ** group["beta2_decay"]
        size = max(second, _root_mean_square(parameter)) * min(lr, 1 / step**0.5)
        if group["weight_decay"] != 0:
            parameter.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            row, column = state["row_var"], state["col_var"]
            row.lerp_(grad.square().mean(-1, keepdim=True), share)
            column.lerp_(grad.square().mean(-2, keepdim=True), share)
            variance = row @ column / row.mean(-2, keepdim=True).clamp(min=first)
        else:
            state["variance"].lerp_(grad.square(), share)
            variance = state["variance"]
        update = variance.clamp(min=first * first).rsqrt() * grad
        parameter.add_(update, alpha=-size / max(1.0, _root_mean_square(update) / group["d"]))
