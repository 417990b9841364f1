"""What a Trainer tells of itself, and what becomes of the figures that a module logs."""

import builtins

import tandem
from tandem.train import loaders
from tandem.train.callbacks import Checkpoint, EarlyStopping
from tandem.train.figures import reduction_of

# Hooks in which a figure is of the step unless it says otherwise; in all others it is of the epoch.
_OF_STEPS = (
    "training_step",
    "on_train_batch_start",
    "on_train_batch_end",
    "on_before_zero_grad",
    "on_before_backward",
    "on_after_backward",
    "on_before_optimizer_step",
)


class TrainerState:
    """The part of Trainer that others read."""

    # --- Where it runs
    @property
    def is_global_zero(self):
        """Whether this is rank 0, or there is no other."""
        return self.global_rank == 0

    @property
    def global_rank(self):
        """The number of this rank."""
        return self._ranks.rank if self._ranks else 0

    @property
    def local_rank(self):
        """Its number on its machine."""
        return self._ranks.local_rank if self._ranks else 0

    @property
    def world_size(self):
        """How many ranks there are."""
        return self._ranks.size if self._ranks else 1

    @property
    def is_fitting(self):
        """Whether fit is under way, in training or in a validation of it."""
        return self._run is not None and self._run.stage == "fit"

    @property
    def device_ids(self):
        """The numbers of the devices of this process."""
        return [device.index or 0 for device in self._devices]

    @property
    def num_devices(self):
        """How many devices this process uses."""
        return len(self._devices)

    @property
    def model(self):
        """The module of the last run."""
        return self.lightning_module

    # --- What takes part
    @property
    def logger(self):
        """The first logger; None without one."""
        return self.loggers[0] if self.loggers else None

    @property
    def log_dir(self):
        """The first logger's folder; the default one without it."""
        return self.logger.log_dir if self.logger else self.default_root_dir

    @property
    def checkpoint_callbacks(self):
        """The callbacks that write checkpoints."""
        return [callback for callback in self.callbacks if isinstance(callback, Checkpoint)]

    @property
    def checkpoint_callback(self):
        """The first of them; None without one."""
        return next(iter(self.checkpoint_callbacks), None)

    @property
    def early_stopping_callbacks(self):
        """The callbacks of early stopping."""
        return [callback for callback in self.callbacks if isinstance(callback, EarlyStopping)]

    @property
    def early_stopping_callback(self):
        """The first of them; None without one."""
        return next(iter(self.early_stopping_callbacks), None)

    @property
    def estimated_stepping_batches(self):
        """The optimizer's steps in the whole run, for schedules; infinity where it has no end."""
        batches = loaders.at_most(loaders.length_of(self.train_dataloader), self.limit_train_batches, "limit_train_batches")
        ends = [self.max_steps] if self.max_steps >= 0 else []
        if self.max_epochs is not None and self.max_epochs >= 0 and batches is not None:
            ends.append(-(-batches // self.accumulate_grad_batches) * self.max_epochs)
        return min(ends, default=float("inf"))

    def print(self, *args, **kwargs):
        """print on rank 0, in a line of its own beside the progress bar."""
        if self.is_global_zero:
            if self._bar:
                self._bar.close()
            builtins.print(*args, **kwargs)

    # --- Figures
    def _log(
        self,
        name,
        value,
        *,
        prog_bar=False,
        logger=None,
        on_step=None,
        on_epoch=None,
        reduce_fx="mean",
        add_dataloader_idx=True,
        batch_size=None,
    ):
        if self._results is None:
            raise RuntimeError(
                f"self.log({name!r}) in {self._hook or 'no hook'}: figures are of a step of training, validation or "
                "test, and of the hooks between them"
            )
        of_steps = self._hook in _OF_STEPS
        on_step = of_steps if on_step is None else on_step
        on_epoch = not of_steps if on_epoch is None else on_epoch
        results = self._results
        if add_dataloader_idx and results.loader is not None:
            name = f"{name}/dataloader_idx_{results.loader}"
        options = (on_step, on_epoch, prog_bar, logger is None or logger)
        entry = results.log(name, value, options, reduction_of(reduce_fx), batch_size)
        if on_epoch and not results.in_batch and not self.sanity_checking:
            self.callback_metrics[name] = _tensor(entry.step_value())  # of a hook between batches: others may read it at once

    def _take_step_values(self, results, has_stepped):
        """The figures of a batch of training, into what others read, and into the loggers each so many steps."""
        values = results.step_values()
        if not values:
            return
        self.callback_metrics.update({name: _tensor(value) for name, value in values.items()})
        self.callback_metrics.update({name: _tensor(value) for name, value in results.step_values(forked=False).items()})
        self.progress_bar_metrics.update(results.step_values(lambda entry: entry.prog_bar))
        if has_stepped and self.log_every_n_steps and self._fit.batches_stepped % self.log_every_n_steps == 0:
            self._write(results.step_values(lambda entry: entry.logger))

    def _note_epoch_values(self, results):
        """The figures of an epoch, or of a pass over data, into what others read; returns them."""
        values = results.epoch_values(self._ranks)
        for name, value in values.items():
            shown = results.shown_name(name)
            self.callback_metrics[name] = self.callback_metrics[shown] = _tensor(value)
            if results.entry(name).prog_bar:
                self.progress_bar_metrics.pop(f"{name}_step", None)
                self.progress_bar_metrics[shown] = value
        return values

    def _take_epoch_values(self, results):
        """The same at the end, and into the loggers. Returns what they get, under its names there."""
        values = self._note_epoch_values(results)
        if not self.sanity_checking:
            self._write({results.shown_name(name): value for name, value in values.items() if results.entry(name).logger})
        return {results.shown_name(name): value for name, value in values.items()}

    def _take_judged_step(self, results):
        """The figures of one batch that is judged, into the loggers; batches that are judged have a count of their own."""
        if not self.sanity_checking:
            self._write(results.step_values(lambda entry: entry.logger), step=self._judged_batches)
            self._judged_batches += 1

    def _write(self, values, step=None):
        """A row of each logger: with the epoch, at the step that was last, unless another is given."""
        if not values:
            return
        with tandem.ledger.allow("the Trainer's loggers"):
            row = {name: float(value) for name, value in values.items()}
        self.logged_metrics.update({name: _tensor(value) for name, value in row.items()})
        if step is None:
            row["epoch"] = self.current_epoch
            step = max(0, self._fit.batches_stepped - 1) if self._fit is not None else 0
        self._log_row(row, step)

    def log_learning_rates(self, row):
        """For callbacks: figures of their own, for loggers and those who watch figures."""
        self.callback_metrics.update({name: _tensor(value) for name, value in row.items()})
        self._log_row(row, self._fit.batches_stepped)

    def _log_row(self, row, step):
        for logger in self.loggers if self.is_global_zero else ():
            logger.log_metrics(row, step)

    def _bar_figures(self):
        """What the bar shows beside the loss, as numbers."""
        with tandem.ledger.allow("the Trainer's figures"):
            return {name: float(value) for name, value in self.progress_bar_metrics.items()}

    def _log_hyper_parameters(self):
        """What modules have kept by save_hyperparameters, into the loggers."""
        kept = {}
        for owner in (self.datamodule, self.lightning_module):
            if getattr(owner, "_log_hyperparams", False):
                kept.update(owner.hparams)
        for logger in self.loggers if self.is_global_zero else ():
            logger.log_hyperparams(kept)


def _tensor(value):
    """A figure as those who watch it get it: a tensor, as PyTorch Lightning's."""
    return value if isinstance(value, tandem.Tensor) else tandem.tensor(float(value))
