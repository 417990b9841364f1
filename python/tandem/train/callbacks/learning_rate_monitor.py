"""LearningRateMonitor: the learning rates as a curve of the loggers."""

from tandem.train.callbacks.callback import Callback


class LearningRateMonitor(Callback):
    """Logs the rates of all groups, as "lr-SGD" ("lr-SGD/pg1" of several groups): each "epoch", each "step", or as the schedules step."""

    def __init__(self, logging_interval=None, log_momentum=False, log_weight_decay=False):
        if logging_interval not in (None, "step", "epoch"):
            raise ValueError(f"logging_interval should be `step` or `epoch` or `None`, but is {logging_interval!r}")
        self.logging_interval = logging_interval
        self.log_momentum, self.log_weight_decay = log_momentum, log_weight_decay
        self.lrs = {}

    def on_train_start(self, trainer, pl_module):
        if not trainer.loggers:
            raise ValueError(
                "Cannot use `LearningRateMonitor` callback with `Trainer` that has no logger: give one, such as logger=CSVLogger('runs')"
            )
        self.lrs = {}

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        every = trainer.log_every_n_steps
        if self.logging_interval != "epoch" and every and (trainer._fit.batches_stepped + 1) % every == 0:
            self._log(trainer, None if self.logging_interval == "step" else "step")

    def on_train_epoch_start(self, trainer, pl_module):
        if self.logging_interval != "step":
            self._log(trainer, None if self.logging_interval == "epoch" else "epoch")

    def _log(self, trainer, interval):
        """Of the optimizers whose schedules step each `interval`, those without a schedule each epoch; of all where it is None."""
        intervals = {
            id(config.scheduler.optimizer): config for config in trainer.lr_scheduler_configs if hasattr(config.scheduler, "optimizer")
        }
        row = {}
        for name, optimizer in self._named(trainer.optimizers):
            config = intervals.get(id(optimizer))
            if interval is not None and (config.interval if config else "epoch") != interval:
                continue
            name = f"lr-{name}" if config is None or not config.name else config.name
            for number, group in enumerate(optimizer.param_groups, 1):
                curve = f"{name}/{group.get('name', f'pg{number}')}" if len(optimizer.param_groups) > 1 else name
                row[curve] = float(group["lr"])
                self.lrs.setdefault(curve, []).append(row[curve])
                if self.log_momentum and ("momentum" in group or "betas" in group):
                    row[f"{curve}-momentum"] = float(group["betas"][0] if "betas" in group else group["momentum"])
                if self.log_weight_decay and "weight_decay" in group:
                    row[f"{curve}-weight_decay"] = float(group["weight_decay"])
        if row:
            trainer.log_learning_rates(row)

    @staticmethod
    def _named(optimizers):
        kinds = [type(optimizer).__name__ for optimizer in optimizers]
        for number, (kind, optimizer) in enumerate(zip(kinds, optimizers)):
            before = kinds[:number].count(kind)
            yield f"{kind}-{before}" if before else kind, optimizer
