"""LBFGS: steps along an approximation of the inverse Hessian, from the last changes of the gradient."""
from tandem.optim.native import NativeOptimizer, _number, _state_tensor
from tandem.optim.optimizer import _check_lr

_LISTS = ("old_dirs", "old_stps", "ro")


class LBFGS(NativeOptimizer):
    """Liu and Nocedal, "On the limited memory BFGS method for large scale optimization": one group, all on one device.

    `line_search_fn` is "strong_wolfe" or None. Its state is kept with the first parameter.
    """

    _native_name = "LBFGS"
    _options = (
        "lr", "max_iter", "max_eval", "tolerance_grad", "tolerance_change", "history_size", "line_search_fn", "maximize",
    )
    _state_names = ("func_evals", "n_iter", "d", "t", "H_diag", "prev_flat_grad", "prev_loss", *_LISTS)
    _counts = {}

    def __init__(
        self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
        line_search_fn=None, *, maximize=False,
    ):
        _check_lr(lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_eval, "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change, "history_size": history_size, "line_search_fn": line_search_fn,
            "maximize": maximize,
        })
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self):
        return self.param_groups[0]["params"]

    def step(self, closure):
        """Up to max_iter iterations; `closure` clears the gradients, computes the loss, calls backward and returns the loss.

        Gives the loss of the first evaluation.
        """
        self._refresh()
        return self._native.step(closure)

    def _native_options(self, options):
        named = super()._native_options(options)
        named["line_search_fn"] = named["line_search_fn"] or ""
        return named

    def _from_native(self, values):
        # C++ numbers the parts of its lists: "old_dirs.0", "old_dirs.1".
        lists = {name: [] for name in _LISTS}
        result = {}
        for name, value in values.items():
            part, dot, _ = name.partition(".")
            if dot:
                lists[part].append(value)
            else:
                result[name] = value
        return {**result, **lists} if result else {}

    def _to_native(self, parameter, values):
        flat = (sum(one.numel() for one in self._params),)
        native = {"func_evals": 0, "n_iter": 0, "t": 0.0, "H_diag": 1.0, "prev_loss": 0.0}
        for name, value in values.items():
            if name == "ro":
                native.update((f"ro.{index}", _number(one)) for index, one in enumerate(value))
            elif name in _LISTS:
                native.update((f"{name}.{index}", _state_tensor(name, one, flat)) for index, one in enumerate(value))
            elif name in native:
                native[name] = _number(value)
            else:
                native[name] = _state_tensor(name, value, flat)
        return native
