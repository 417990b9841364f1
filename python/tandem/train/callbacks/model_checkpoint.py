"""ModelCheckpoint: keeps the checkpoints of the best epochs, or of the last one."""

import glob
import os
import re

import tandem
from tandem.train.callbacks.callback import Callback
from tandem.train.callbacks.monitor import check_mode, figure_of, is_better, judged_with_epochs, worst


class Checkpoint(Callback):
    """The base of callbacks that write checkpoints. They come last of all."""

    comes_last = 2

    def last_paths(self, trainer):
        """The files from which fit(ckpt_path="last") may go on."""
        return []

    def path_when_interrupted(self):
        """Where a run that is interrupted is saved; None for nowhere."""
        return None


class ModelCheckpoint(Checkpoint):
    """Writes `filename` into `dirpath` and keeps the `save_top_k` files that are best by `monitor` (-1: all). Without one, the newest.

    `filename` may name figures: "{epoch}-{val_loss:.2f}" becomes epoch=3-val_loss=0.25.ckpt. With `save_last`, last.ckpt is a copy of the
    newest. It writes every `every_n_epochs` epochs (1), or every `every_n_train_steps` steps; after validation where that is not once an
    epoch. `best_model_path` and `best_model_score` tell of the best."""

    CHECKPOINT_NAME_LAST = "last"
    FILE_EXTENSION = ".ckpt"

    def __init__(
        self,
        dirpath=None,
        filename=None,
        monitor=None,
        verbose=False,
        save_last=None,
        save_top_k=1,
        save_weights_only=False,
        mode="min",
        auto_insert_metric_name=True,
        every_n_train_steps=None,
        every_n_epochs=None,
        save_on_train_epoch_end=None,
        enable_version_counter=True,
    ):
        check_mode(mode)
        if save_top_k < -1:
            raise ValueError(f"Invalid value for save_top_k={save_top_k}. Must be >= -1")
        if monitor is None and save_top_k > 1:
            raise ValueError(
                f"ModelCheckpoint(save_top_k={save_top_k}, monitor=None) is not a valid configuration. No quantity for top_k to track."
            )
        for name, value in (("every_n_train_steps", every_n_train_steps), ("every_n_epochs", every_n_epochs)):
            if value is not None and value < 0:
                raise ValueError(f"Invalid value for {name}={value}. Must be >= 0")
        if every_n_train_steps and every_n_epochs:
            raise ValueError("Combination of parameters every_n_train_steps and every_n_epochs should be mutually exclusive.")
        self.dirpath = None if dirpath is None else os.path.realpath(os.path.expanduser(os.fspath(dirpath)))
        self._default_dirpath = dirpath is None
        self.filename, self.monitor, self.mode = filename, monitor, mode
        self.save_last, self.save_top_k, self.save_weights_only = save_last, save_top_k, save_weights_only
        self.auto_insert_metric_name, self.enable_version_counter = auto_insert_metric_name, enable_version_counter
        self._every_n_train_steps = every_n_train_steps or 0
        self._every_n_epochs = (0 if every_n_train_steps else 1) if every_n_epochs is None else every_n_epochs
        self._save_on_train_epoch_end = save_on_train_epoch_end
        self._ends_with_validation = False
        self._last_step_saved = -1
        self.best_k_models = {}
        self.best_model_path = self.kth_best_model_path = self.last_model_path = ""
        self.best_model_score = self.current_score = None

    @property
    def state_key(self):
        watched = {
            "monitor": self.monitor,
            "mode": self.mode,
            "every_n_train_steps": self._every_n_train_steps,
            "every_n_epochs": self._every_n_epochs,
        }
        return f"ModelCheckpoint{watched}"

    def state_dict(self):
        return {
            "monitor": self.monitor,
            "dirpath": self.dirpath,
            "best_model_score": self.best_model_score,
            "best_model_path": self.best_model_path,
            "current_score": self.current_score,
            "best_k_models": dict(self.best_k_models),
            "kth_best_model_path": self.kth_best_model_path,
            "last_model_path": self.last_model_path,
        }

    def load_state_dict(self, state_dict):
        if state_dict["dirpath"] == self.dirpath:  # in another folder its files are not this one's to keep
            self.best_k_models = {path: score for path, score in state_dict["best_k_models"].items() if os.path.exists(path)}
            self.kth_best_model_path, self.last_model_path = state_dict["kth_best_model_path"], state_dict["last_model_path"]
            self.best_model_score, self.best_model_path = state_dict["best_model_score"], state_dict["best_model_path"]

    def setup(self, trainer, pl_module, stage):
        if self._default_dirpath and stage == "fit":
            self.dirpath = trainer._ranks.first(self._default_folder(trainer))

    def _default_folder(self, trainer):
        return os.path.join(os.path.realpath(trainer.log_dir or trainer.default_root_dir), "checkpoints")

    # --- When
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if (
            self._every_n_train_steps
            and trainer.global_step % self._every_n_train_steps == 0
            and trainer.global_step != self._last_step_saved
        ):
            self._save(trainer)

    def on_train_epoch_end(self, trainer, pl_module):
        if self._saves_with_epochs(trainer) and self._every_n_epochs and (trainer.current_epoch + 1) % self._every_n_epochs == 0:
            self._save(trainer)

    def on_validation_end(self, trainer, pl_module):
        if not trainer.is_fitting or trainer.sanity_checking:
            return
        if not self._saves_with_epochs(trainer) and self._every_n_epochs and (trainer.current_epoch + 1) % self._every_n_epochs == 0:
            self._save(trainer)

    def _saves_with_epochs(self, trainer):
        if self._save_on_train_epoch_end is not None:
            return self._save_on_train_epoch_end
        return judged_with_epochs(trainer) or not any(count != 0 for count in trainer.num_val_batches)

    # --- What
    def _save(self, trainer):
        self._last_step_saved = trainer.global_step
        saved = None
        if self.save_top_k != 0:
            saved = self._save_newest(trainer) if self.monitor is None else self._save_if_among_best(trainer)
        if self.save_last:
            self._save_as_last(trainer, saved)

    def _save_newest(self, trainer):
        path, before = self._free_path(trainer), self.best_model_path
        self.best_model_path = path
        trainer.save_checkpoint(path, self.save_weights_only)
        if self.save_top_k == 1 and before and before != path:
            self._remove(trainer, before)
        return path

    def _save_if_among_best(self, trainer):
        score = figure_of("ModelCheckpoint", trainer, self.monitor)
        self.current_score = tandem.tensor(score)
        full = self.save_top_k > 0 and len(self.best_k_models) >= self.save_top_k
        if full and not is_better(score, float(self.best_k_models[self.kth_best_model_path]), self.mode):
            return None
        replaced = self.kth_best_model_path if full else None
        if replaced:
            del self.best_k_models[replaced]
        path = self._free_path(trainer, replaced)
        # Not a number counts as worst, so that the next one takes its place.
        self.best_k_models[path] = self.current_score if score == score else tandem.tensor(worst(self.mode))
        ordered = sorted(self.best_k_models, key=lambda one: float(self.best_k_models[one]), reverse=self.mode == "max")
        self.best_model_path, self.kth_best_model_path = ordered[0], ordered[-1]
        self.best_model_score = self.best_k_models[self.best_model_path]
        trainer.save_checkpoint(path, self.save_weights_only)
        if replaced and replaced != path:
            self._remove(trainer, replaced)
        return path

    def _save_as_last(self, trainer, saved):
        path = self._path(self._formatted(trainer, self.CHECKPOINT_NAME_LAST))
        before, self.last_model_path = self.last_model_path, path
        if self.save_last == "link" and saved and trainer.is_global_zero:
            if os.path.lexists(path):
                os.unlink(path)
            os.symlink(os.path.relpath(saved, self.dirpath), path)
        else:
            trainer.save_checkpoint(path, self.save_weights_only)
        if before and before != path:
            self._remove(trainer, before)

    def _remove(self, trainer, path):
        if trainer.is_global_zero and os.path.exists(path):
            os.unlink(path)

    # --- Names
    def _path(self, name):
        return os.path.join(self.dirpath, name + self.FILE_EXTENSION)

    def _free_path(self, trainer, replaced=None):
        """Where the next checkpoint is written: under the name alone, or with -v1, -v2 where that is taken."""
        name = self._formatted(trainer, self.filename or "{epoch}-{step}")
        path, version = self._path(name), 0
        while self.enable_version_counter and os.path.exists(path) and path != replaced:
            version += 1
            path = self._path(f"{name}-v{version}")
        return trainer._ranks.first(path)

    def _formatted(self, trainer, pattern):
        return self.format_name(pattern, {**trainer.callback_metrics, "epoch": trainer.current_epoch, "step": trainer.global_step})

    def format_name(self, pattern, figures):
        """A file's name, without folder and ending: "{epoch}-{val_loss:.2f}" -> "epoch=3-val_loss=0.25". One that is not there is 0."""

        def filled(match):
            name, form = match.group(1), match.group(2) or ""
            value = figures.get(name, 0)
            value = value.item() if isinstance(value, tandem.Tensor) else value
            return (f"{name}=" if self.auto_insert_metric_name else "") + format(value, form.lstrip(":"))

        return re.sub(r"\{([^{}:]+)(:[^{}]*)?\}", filled, pattern)

    def format_checkpoint_name(self, metrics, filename=None, ver=None):
        """The path of a checkpoint with these figures."""
        name = self.format_name(filename or self.filename or "{epoch}-{step}", metrics)
        return (self._path if self.dirpath else lambda one: one + self.FILE_EXTENSION)(name if ver is None else f"{name}-v{ver}")

    def last_paths(self, trainer):
        folder = self.dirpath or self._default_folder(trainer)
        return glob.glob(os.path.join(glob.escape(folder), f"{self.CHECKPOINT_NAME_LAST}*{self.FILE_EXTENSION}"))

    def path_when_interrupted(self):
        return self._path(self.CHECKPOINT_NAME_LAST)
