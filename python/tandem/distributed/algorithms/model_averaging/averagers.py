"""Averagers: what averages parameters over the ranks, every so many steps."""

from abc import ABC, abstractmethod

from tandem._grad_mode import no_grad
from tandem.distributed.collectives import all_reduce
from tandem.distributed.groups import _get_default_group
from tandem.distributed.work import ReduceOp


class ModelAverager(ABC):
    """Counts the steps, and averages in some of them."""

    def __init__(self, process_group=None):
        self.process_group = _get_default_group() if process_group is None else process_group
        self.step = 0

    @abstractmethod
    def average_parameters(self, params):
        """Called after each step."""


def average_parameters(params, process_group):
    """Gives parameters the average of the ranks' values."""
    with no_grad():
        for parameter in params:
            all_reduce(parameter.data, ReduceOp.AVG, process_group)


def _parameters_of(params):
    """The parameters that have gradients, of a list of them or of an optimizer's groups."""
    params = list(params)
    if params and isinstance(params[0], dict):
        params = [parameter for group in params for parameter in group["params"]]
    return [parameter for parameter in params if parameter.grad is not None]


class PeriodicModelAverager(ModelAverager):
    """Averages in every `period`-th step, after `warmup_steps`."""

    def __init__(self, period, warmup_steps=0, process_group=None):
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        self.period, self.warmup_steps = period, warmup_steps

    def average_parameters(self, params):
        """Called after each step with parameters, or an optimizer's groups."""
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            average_parameters(_parameters_of(params), self.process_group)
        self.step += 1
