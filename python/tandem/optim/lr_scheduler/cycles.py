"""Schedules that go up and down, with the momentum the other way: CyclicLR and OneCycleLR. They step after each batch."""
import math

from tandem.optim.lr_scheduler.base import LRScheduler, check_optimizer, one_a_group, set_value


def _uses_beta1(optimizer):
    """Whether the momentum is the first of 'betas'. ValueError where there is none."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def _set_momentum(group, momentum, use_beta1):
    if use_beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


class CyclicLR(LRScheduler):
    """Between `base_lr` and `max_lr`, `step_size_up` batches up and `step_size_down` down.

    Smith, "Cyclical learning rates for training neural networks". The height of a cycle is halved each time by mode "triangular2", and
    multiplied by gamma ** batch by "exp_range"; or `scale_fn` gives the factor, of the cycle or of the batch (`scale_mode`).
    """

    def __init__(
        self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0, scale_fn=None,
        scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1,
    ):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = one_a_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups):
                set_value(group, "lr", lr)
        self.max_lrs = one_a_group("max_lr", optimizer, max_lr)
        step_size_up = float(step_size_up)
        step_size_down = step_size_up if step_size_down is None else float(step_size_down)
        self.total_size = step_size_up + step_size_down
        self.step_ratio = step_size_up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None or mode != "exp_range" else "iterations"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(optimizer)
            self.base_momentums = one_a_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = one_a_group("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                for highest, lowest, group in zip(self.max_momentums, self.base_momentums, optimizer.param_groups):
                    _set_momentum(group, highest, self.use_beta1)
                    group["max_momentum"] = highest
                    group["base_momentum"] = lowest
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x):
        """What the height of cycle or batch `x` is multiplied by."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma**x

    def get_lr(self):
        """The rates of this batch; sets the momentum too."""
        self._warn_unless_in_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        factor = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for lowest, highest, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups):
                _set_momentum(group, highest - (highest - lowest) * height * factor, self.use_beta1)
        return [lowest + (highest - lowest) * height * factor for lowest, highest in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self):
        """All but the optimizer and a function given as `scale_fn`; of a callable object, its attributes."""
        state = super().state_dict()
        scale_fn = state.pop("_scale_fn_custom")
        attributes = getattr(scale_fn, "__dict__", None)
        state["_scale_fn_custom"] = dict(attributes) if attributes else None
        return state

    def load_state_dict(self, state_dict):
        state_dict = dict(state_dict)
        attributes = state_dict.pop("_scale_fn_custom")
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        super().load_state_dict(state_dict)


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and down again: `total_steps` batches, or `epochs` times `steps_per_epoch`.

    Smith and Topin, "Super-convergence". The first rate is max_lr / div_factor, the last is the first / final_div_factor. With
    `three_phase` it goes down as long as up, and then to the last rate.
    """

    def __init__(
        self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3, anneal_strategy="cos",
        cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0, final_div_factor=1e4, three_phase=False,
        last_epoch=-1,
    ):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = self._steps(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._schedule_phases = self._phases(pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        max_lrs = one_a_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for highest, group in zip(max_lrs, optimizer.param_groups):
                group["initial_lr"] = highest / div_factor
                group["max_lr"] = highest
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(optimizer)
            max_momentums = one_a_group("max_momentum", optimizer, max_momentum)
            base_momentums = one_a_group("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                for highest, lowest, group in zip(max_momentums, base_momentums, optimizer.param_groups):
                    _set_momentum(group, highest, self.use_beta1)
                    group["max_momentum"] = highest
                    group["base_momentum"] = lowest
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _steps(total_steps, epochs, steps_per_epoch):
        def checked(name, value):
            if value <= 0 or not isinstance(value, int):
                raise ValueError(f"Expected positive integer {name}, but got {value}")
            return value

        if total_steps is not None:
            return checked("total_steps", total_steps)
        if epochs is None or steps_per_epoch is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        return checked("epochs", epochs) * checked("steps_per_epoch", steps_per_epoch)

    def _phases(self, pct_start, three_phase):
        """Where each phase ends, and the keys of a group that it goes between."""

        def phase(end_step, start_lr, end_lr, start_momentum, end_momentum):
            return {
                "end_step": end_step, "start_lr": start_lr, "end_lr": end_lr, "start_momentum": start_momentum,
                "end_momentum": end_momentum,
            }

        rise = float(pct_start * self.total_steps)
        up = phase(rise - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        if not three_phase:
            return [up, phase(self.total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        return [
            up,
            phase(2 * rise - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
            phase(self.total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
        ]

    def _between(self, start, end, done):
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * done) + 1)
        return (end - start) * done + start

    def get_lr(self):
        """The rates of this batch; sets the momentum too. ValueError after `total_steps` batches."""
        self._warn_unless_in_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start_step = 0.0
        for phase in self._schedule_phases:
            end_step = phase["end_step"]
            if step <= end_step or phase is self._schedule_phases[-1]:
                break
            start_step = end_step
        done = (step - start_step) / (end_step - start_step)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], done))
            if self.cycle_momentum:
                momentum = self._between(group[phase["start_momentum"]], group[phase["end_momentum"]], done)
                _set_momentum(group, momentum, self.use_beta1)
        return rates
