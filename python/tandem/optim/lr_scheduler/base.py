"""LRScheduler, the base of the schedules."""
import warnings

from tandem import _C
from tandem.optim.optimizer import Optimizer

EPOCH_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use `scheduler.step()` to "
    "step the scheduler; with an epoch, the closed form is used where there is one."
)
_ORDER_WARNING = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. You should call them in the opposite order: `optimizer.step()` "
    "before `lr_scheduler.step()`, or the first value of the learning rate schedule is skipped."
)


def check_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def set_value(group, key, value):
    """group[key] = value; a tensor stays the same tensor and is filled."""
    if isinstance(group[key], _C.Tensor):
        group[key].fill_(value)
    else:
        group[key] = value


def copied(value):
    """What no later change of the group changes."""
    return value.clone() if isinstance(value, _C.Tensor) else value


def one_a_group(name, optimizer, value):
    """`value` as a list with an element for each group."""
    if isinstance(value, (list, tuple)):
        if len(value) != len(optimizer.param_groups):
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups has "
                f"{len(optimizer.param_groups)}."
            )
        return list(value)
    return [value] * len(optimizer.param_groups)


class LRScheduler:
    """Sets the learning rates of `optimizer` at each `step`. Subclasses implement `get_lr`: the rates of epoch `self.last_epoch`.

    `last_epoch` other than -1 goes on from there; the groups must have an 'initial_lr' then.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        check_optimizer(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}] when resuming scheduler with last_epoch >= 0: load the "
                    "state of the optimizer before, or leave last_epoch out"
                )
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.optimizer = optimizer
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        """All but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Takes over what state_dict gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates that were set last, one for each group."""
        return self._last_lr

    def get_lr(self):
        """The rates of epoch `self.last_epoch`, one for each group, from those of the epoch before."""
        raise NotImplementedError

    def step(self, epoch=None):
        """Goes on to the next epoch, or to `epoch`. Call it after the optimizer's step."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(_ORDER_WARNING, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                values = self._get_closed_form_lr() if hasattr(self, "_get_closed_form_lr") else self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, value in zip(self.optimizer.param_groups, values):
            set_value(group, "lr", value)
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _warn_unless_in_step(self):
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", UserWarning, stacklevel=3
            )

    def _current_lrs(self):
        return [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _scaled_lrs(self, factor):
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class _LRScheduler(LRScheduler):
    """The base's old name, which programs still derive from."""
