"""A figure that a callback watches."""

import math


def check_mode(mode):
    """Error for what is neither "min" nor "max"."""
    if mode not in ("min", "max"):
        raise ValueError(f"`mode` can be 'min', 'max', got {mode!r}")


def figure_of(who, trainer, monitor):
    """The figure of that name, as a number. RuntimeError, with the names there are, where it is missing."""
    if monitor not in trainer.callback_metrics:
        raise RuntimeError(
            f"[{who}] there is no figure {monitor} to watch; this run has {', '.join(trainer.callback_metrics) or 'none'}: "
            f"log it by self.log({monitor!r}, value)"
        )
    return float(trainer.callback_metrics[monitor])


def is_better(value, best, mode, min_delta=0.0):
    """Whether a value improves on the best so far, by more than `min_delta`."""
    if math.isnan(value):
        return False
    return value < best - min_delta if mode == "min" else value > best + min_delta


def worst(mode):
    """What everything improves on."""
    return math.inf if mode == "min" else -math.inf


def judged_with_epochs(trainer):
    """Whether every epoch ends with one validation, so that its figures are there when it ends."""
    return trainer.val_check_interval == 1.0 and trainer.check_val_every_n_epoch == 1
