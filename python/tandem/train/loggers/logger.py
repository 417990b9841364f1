"""Logger: what a Trainer writes figures to."""

import argparse
import os
import re


class Logger:
    """Derive and give `log_metrics`. Its files are in `save_dir`/`name`/version_N, where N counts the runs, or `version` says which."""

    def __init__(self, save_dir=".", name="lightning_logs", version=None, prefix=""):
        self.save_dir = os.fspath(save_dir)
        self.name = name or ""
        self._version, self._prefix = version, prefix

    @property
    def root_dir(self):
        """The folder of all runs of that name."""
        return os.path.join(self.save_dir, self.name)

    @property
    def version(self):
        """The number of the run: one more than the last in the folder, unless given."""
        if self._version is None:
            names = os.listdir(self.root_dir) if os.path.isdir(self.root_dir) else []
            self._version = 1 + max((int(found.group(1)) for name in names if (found := re.fullmatch(r"version_(\d+)", name))), default=-1)
        return self._version

    @property
    def log_dir(self):
        """The folder of this run."""
        return os.path.join(self.root_dir, self.version if isinstance(self.version, str) else f"version_{self.version}")

    def _named(self, metrics):
        return {f"{self._prefix}-{name}" if self._prefix and name != "epoch" else name: float(value) for name, value in metrics.items()}

    def log_metrics(self, metrics, step=None):
        """A row of figures at a step."""
        raise NotImplementedError(f"{type(self).__name__} has no log_metrics")

    def log_hyperparams(self, params, *args, **kwargs):
        """What the run was made with."""

    def log_graph(self, model, input_array=None):
        """Nothing: there is no graph of operations apart from their run."""

    def save(self):
        """Writes what is not written yet."""

    def finalize(self, status):
        """The run has ended, with "success" or "failed"."""
        self.save()


def plain(params):
    """Hyper parameters, also of a namespace, as a dictionary."""
    return dict(vars(params) if isinstance(params, argparse.Namespace) else params or {})
