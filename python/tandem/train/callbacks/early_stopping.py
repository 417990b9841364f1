"""EarlyStopping: ends a run whose figure does not become better any more."""

import math

import tandem
from tandem.train.callbacks.callback import Callback
from tandem.train.callbacks.monitor import check_mode, figure_of, is_better, judged_with_epochs, worst


class EarlyStopping(Callback):
    """Ends the run after `patience` looks at `monitor` that found it no better, by more than `min_delta`, than the best.

    It looks after each epoch, or after each validation where these are more or less often. It ends the run, too, when the figure is not
    finite (`check_finite`), as good as `stopping_threshold`, or as bad as `divergence_threshold`."""

    comes_last = 1

    def __init__(
        self,
        monitor,
        min_delta=0.0,
        patience=3,
        verbose=False,
        mode="min",
        strict=True,
        check_finite=True,
        stopping_threshold=None,
        divergence_threshold=None,
        check_on_train_epoch_end=None,
        log_rank_zero_only=False,
    ):
        check_mode(mode)
        if patience < 0:
            raise ValueError(f"[EarlyStopping] patience must not be negative, but is {patience}")
        self.monitor, self.patience, self.mode, self.strict = monitor, patience, mode, strict
        self.min_delta = abs(min_delta)
        self.check_finite = check_finite
        self.stopping_threshold, self.divergence_threshold = stopping_threshold, divergence_threshold
        self.wait_count = self.stopped_epoch = 0
        self.best_score = tandem.tensor(worst(mode))
        self.stopping_reason_message = ""
        self._check_on_train_epoch_end = check_on_train_epoch_end

    @property
    def state_key(self):
        return f"EarlyStopping{{'monitor': {self.monitor!r}, 'mode': {self.mode!r}}}"

    def state_dict(self):
        return {
            "wait_count": self.wait_count,
            "stopped_epoch": self.stopped_epoch,
            "best_score": self.best_score,
            "patience": self.patience,
        }

    def load_state_dict(self, state_dict):
        self.wait_count, self.stopped_epoch = state_dict["wait_count"], state_dict["stopped_epoch"]
        self.best_score = state_dict["best_score"]

    def setup(self, trainer, pl_module, stage):
        if self._check_on_train_epoch_end is None:
            self._check_on_train_epoch_end = judged_with_epochs(trainer)

    def on_train_epoch_end(self, trainer, pl_module):
        if self._check_on_train_epoch_end:
            self._look(trainer)

    def on_validation_end(self, trainer, pl_module):
        if not self._check_on_train_epoch_end and trainer.is_fitting and not trainer.sanity_checking:
            self._look(trainer)

    def _look(self, trainer):
        if self.monitor not in trainer.callback_metrics and not self.strict:
            return
        value = figure_of("EarlyStopping", trainer, self.monitor)
        reason = self._reason_to_stop(value)
        if reason:
            self.stopping_reason_message = reason
            self.stopped_epoch = trainer.current_epoch
            trainer.should_stop = True

    def _reason_to_stop(self, value):
        """Why the run ends with this value; empty where it goes on."""
        if self.check_finite and not math.isfinite(value):
            return f"{self.monitor} is {value}, which is not finite"
        if self.stopping_threshold is not None and is_better(value, self.stopping_threshold, self.mode):
            return f"{self.monitor} is {value:.4g}, which is better than {self.stopping_threshold}"
        if self.divergence_threshold is not None and is_better(self.divergence_threshold, value, self.mode):
            return f"{self.monitor} is {value:.4g}, which is worse than {self.divergence_threshold}"
        if is_better(value, float(self.best_score), self.mode, self.min_delta):
            self.best_score = tandem.tensor(value)
            self.wait_count = 0
            return ""
        self.wait_count += 1
        return (
            f"{self.monitor} has not become better than {float(self.best_score):.4g} for {self.wait_count} looks"
            if self.wait_count >= self.patience
            else ""
        )
