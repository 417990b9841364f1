"""What optimizers that step one parameter after another in Python have in common."""

from tandem._grad_mode import enable_grad, no_grad
from tandem.optim.optimizer import Optimizer


class ByParameter(Optimizer):
    """Steps by `_step_of(parameter, group)`, which a subclass has."""

    def step(self, closure=None):
        """One step for all parameters that have gradients; gives the loss that `closure` returns."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._step_of(parameter, group)
        return loss

    def _step_of(self, parameter, group):
        """Changes a parameter that has a gradient."""
        raise NotImplementedError
