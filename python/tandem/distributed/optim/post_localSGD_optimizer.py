"""An optimizer that averages the ranks' parameters from time to time."""

import warnings

from tandem.optim.optimizer import Optimizer


class PostLocalSGDOptimizer(Optimizer):
    """Steps by another optimizer, and then lets an averager average its parameters."""

    def __init__(self, optim, averager):
        self.optim, self.averager = optim, averager
        self.param_groups = optim.param_groups
        self._make_hooks()

    @property
    def state(self):
        """The other's."""
        return self.optim.state

    def __repr__(self):
        return repr(self.optim)

    def state_dict(self):
        """The other's, with the averager's step."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict):
        """Takes over what state_dict gave."""
        self.optim.load_state_dict({key: value for key, value in state_dict.items() if key != "step"})
        self.param_groups = self.optim.param_groups
        if "step" in state_dict:
            self.averager.step = state_dict["step"]
        else:
            warnings.warn(
                "Loaded state dict does not contain a step counter for an averager. Setting step counter to 0.", stacklevel=2
            )
            self.averager.step = 0

    def step(self, closure=None):
        """A step of the other, and one of the averager."""
        loss = self.optim.step() if closure is None else self.optim.step(closure)
        self.averager.average_parameters(params=self.param_groups)
        return loss

    def zero_grad(self, set_to_none=True):
        """The other's."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group):
        """The other's."""
        self.optim.add_param_group(param_group)
