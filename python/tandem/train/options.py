"""What a Trainer may be given: errors, by name, for what makes no sense."""

from tandem import nn
from tandem.train.module import LightningModule


def _whole(name, value, least, hint):
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"[Trainer] {name} is a whole number, not {value!r}: {hint}")
    if value < least:
        raise ValueError(f"[Trainer] {name} must not be below {least}, but is {value}: {hint}")


def _limit(name, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0 or isinstance(value, float) and value > 1:
        raise ValueError(f"[Trainer] {name} is a whole number of batches from 0, or a share of them from 0.0 to 1.0, but is {value!r}")


def check_options(given):
    """Error for the first option that makes no sense."""
    for name, least, hint in (
        ("max_epochs", -1, "give the number of passes over the data, such as 10; 0 trains nothing, -1 has no end"),
        ("max_steps", -1, "give the number of optimizer steps, or -1 for no end"),
        ("min_epochs", 0, "give a number of epochs"),
        ("min_steps", 0, "give a number of steps"),
        ("num_nodes", 1, "give the number of servers, 1 for this one alone"),
        ("accumulate_grad_batches", 1, "give how many batches make a step, 1 for each"),
        ("check_val_every_n_epoch", 1, "give the epochs from one validation to the next, or None to count batches over epochs"),
        ("log_every_n_steps", 0, "give the steps from one row of a logger to the next, 0 for none"),
        ("num_sanity_val_steps", -1, "give how many batches of validation are tried first, 0 for none, -1 for all"),
    ):
        if given[name] is not None:
            _whole(name, given[name], least, hint)
    for name in ("limit_train_batches", "limit_val_batches", "limit_test_batches", "limit_predict_batches"):
        if given[name] is not None:
            _limit(name, given[name])
    interval = given["val_check_interval"]
    if interval is not None:
        _limit("val_check_interval", interval)
        if interval == 0:
            raise ValueError("[Trainer] val_check_interval is 0: to leave validation out, limit_val_batches=0")
    if given["check_val_every_n_epoch"] is None and (interval is None or isinstance(interval, float)):
        raise ValueError(
            "[Trainer] check_val_every_n_epoch=None counts batches over all epochs: give val_check_interval as a whole number of them"
        )
    clip = given["gradient_clip_val"]
    if clip is not None and (not isinstance(clip, (int, float)) or not clip >= 0):
        raise ValueError(
            f"[Trainer] gradient_clip_val must not be negative, but is {clip!r}: give the most that the norm may be, or 0 for no limit"
        )
    if given["gradient_clip_algorithm"] not in (None, "norm", "value"):
        raise ValueError(f"[Trainer] gradient_clip_algorithm is 'norm' or 'value', not {given['gradient_clip_algorithm']!r}")
    if given["strategy"] not in (
        "auto",
        "ddp",
        "ddp_find_unused_parameters_true",
        "ddp_find_unused_parameters_false",
        "ddp_notebook",
        "ddp_spawn",
        "dp",
    ):
        raise ValueError(
            f"[Trainer] strategy {given['strategy']!r} is not supported: give 'auto', or "
            "'ddp_find_unused_parameters_true' where some parameters get no gradient"
        )
    if given["deterministic"] not in (None, True, False, "warn"):
        raise ValueError(f"[Trainer] deterministic is True, False or 'warn', not {given['deterministic']!r}")


_STEPS = {"fit": "training_step", "validate": "validation_step", "test": "test_step"}


def check_step(model, verb):
    """Error where a model has not what a run needs."""
    if isinstance(model, type):
        raise TypeError(f"[Trainer.{verb}] give a model, not its class: {model.__name__}(...)")
    if not isinstance(model, nn.Module):
        raise TypeError(
            f"[Trainer.{verb}] `model` must be a LightningModule or an nn.Module with {_STEPS.get(verb, 'forward')}, "
            f"but is {type(model).__name__}"
        )
    step = _STEPS.get(verb)
    if step is None:
        return
    if not callable(getattr(model, step, None)) or getattr(type(model), step, None) is getattr(LightningModule, step):
        raise TypeError(
            f"[Trainer.{verb}] No `{step}()` method defined in {type(model).__name__}: give one, as in "
            f"`def {step}(self, batch, batch_idx):`{' that returns the loss' if verb == 'fit' else ''}"
        )
