"""What configure_optimizers gives: optimizers and schedules, in any of the forms that PyTorch Lightning knows."""

from dataclasses import dataclass
from typing import Any

from tandem.optim import Optimizer
from tandem.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

_FORMS = (
    "give an optimizer, a list of them, (optimizers, schedulers), or "
    '{"optimizer": optimizer, "lr_scheduler": scheduler, "monitor": "val_loss"}'
)


@dataclass
class LRSchedulerConfig:
    """A schedule of learning rates, and when it steps."""

    scheduler: Any
    name: str | None = None
    interval: str = "epoch"  # or "step"
    frequency: int = 1
    reduce_on_plateau: bool = False
    monitor: str | None = None
    strict: bool = True


def configured(module):
    """(optimizers, configs of schedulers) of a module. TypeError or ValueError, by name, for what is none."""
    who = f"{type(module).__name__}.configure_optimizers"
    if not hasattr(module, "configure_optimizers"):
        raise TypeError(
            f"{type(module).__name__} has no configure_optimizers: give one, as in `return tandem.optim.SGD(self.parameters(), lr=0.1)`"
        )
    given = module.configure_optimizers()
    automatic = getattr(module, "automatic_optimization", True)
    if given is None:
        if automatic:
            raise TypeError(f"{who} gave no optimizer: return one, as in `return tandem.optim.SGD(self.parameters(), lr=0.1)`")
        return [], []
    optimizers, configs = _read(who, given)
    if automatic and len(optimizers) != 1:
        raise ValueError(
            f"{who} gave {len(optimizers)} optimizers, and Training with multiple optimizers is only supported with manual optimization. "
            "Set `self.automatic_optimization = False`, then call `self.optimizers()`, `self.manual_backward(loss)` "
            "and `step()` in training_step"
        )
    return optimizers, configs


def _read(who, given):
    if isinstance(given, Optimizer):
        return [given], []
    if isinstance(given, dict):
        return _of_dicts(who, [given])
    if isinstance(given, (list, tuple)):
        if given and all(isinstance(one, dict) for one in given):
            return _of_dicts(who, given)
        if len(given) == 2 and all(isinstance(one, (list, tuple)) for one in given):
            return [_optimizer(who, one) for one in given[0]], [_config(who, one, None) for one in given[1]]
        if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Optimizer) and not isinstance(given[1], Optimizer):
            return [given[0]], [_config(who, given[1], None)]
        return [_optimizer(who, one) for one in given], []
    raise TypeError(f"{who} gave {_named(given)}, which is no optimizer: {_FORMS}")


def _named(value):
    return f"{value!r} of type {type(value).__name__}"


def _optimizer(who, one):
    if not isinstance(one, Optimizer):
        raise TypeError(f"{who} gave {_named(one)} where an optimizer belongs: {_FORMS}")
    return one


def _of_dicts(who, dicts):
    optimizers, configs = [], []
    for one in dicts:
        unknown = set(one) - {"optimizer", "lr_scheduler", "monitor", "frequency"}
        if "optimizer" not in one or unknown:
            problem = f"has an unknown key {sorted(map(str, unknown))[0]!r}" if unknown else "has no key 'optimizer'"
            raise ValueError(f"{who} gave a dict that {problem}: {_FORMS}")
        optimizers.append(_optimizer(who, one["optimizer"]))
        if one.get("lr_scheduler") is not None:
            configs.append(_config(who, one["lr_scheduler"], one.get("monitor")))
    return optimizers, configs


def _config(who, given, monitor):
    options = dict(given) if isinstance(given, dict) else {"scheduler": given}
    unknown = set(options) - set(LRSchedulerConfig.__dataclass_fields__)
    if unknown:
        raise ValueError(
            f"{who} gave a scheduler with an unknown key {sorted(map(str, unknown))[0]!r}: there are "
            f"{', '.join(LRSchedulerConfig.__dataclass_fields__)}"
        )
    if "scheduler" not in options:
        raise ValueError(f'The lr scheduler dict must have the key "scheduler" with its item being an lr scheduler ({who})')
    scheduler = options["scheduler"]
    if not isinstance(scheduler, LRScheduler) and not hasattr(scheduler, "step"):
        raise TypeError(f"{who} gave {_named(scheduler)} where a scheduler belongs: {_FORMS}")
    config = LRSchedulerConfig(**options)
    if config.interval not in ("epoch", "step"):
        raise ValueError(f'The "interval" key in lr scheduler dict must be "step" or "epoch" but is "{config.interval}" ({who})')
    if config.frequency < 1:
        raise ValueError(f"{who} gave a scheduler of frequency {config.frequency}: give 1 or more")
    config.monitor = config.monitor or monitor
    if isinstance(scheduler, ReduceLROnPlateau):
        config.reduce_on_plateau = True
        if config.monitor is None:
            raise ValueError(
                f"{who} gave a ReduceLROnPlateau without the figure it watches: return "
                '{"optimizer": optimizer, "lr_scheduler": scheduler, "monitor": "val_loss"}'
            )
    return config


def step_schedulers(trainer, module, interval, count):
    """Steps the schedules of an interval; `count` of these have passed. A module with manual optimization steps its own."""
    if not getattr(module, "automatic_optimization", True):
        return
    step = getattr(module, "lr_scheduler_step", None)
    for config in trainer.lr_scheduler_configs:
        if config.interval != interval or count % config.frequency:
            continue
        metric = None
        if config.reduce_on_plateau:
            if config.monitor not in trainer.callback_metrics:
                if not config.strict:
                    continue
                raise RuntimeError(
                    f"ReduceLROnPlateau conditioned on metric {config.monitor} which is not available. Available metrics are: "
                    f"{', '.join(trainer.callback_metrics) or 'none'}: log it by self.log({config.monitor!r}, value)"
                )
            metric = trainer.callback_metrics[config.monitor]
        if step is not None:
            step(config.scheduler, metric)
        elif metric is None:
            config.scheduler.step()
        else:
            config.scheduler.step(metric)
