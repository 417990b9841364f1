"""TensorBoardLogger: the figures of a run for `tensorboard --logdir`."""

import os

from tandem.train.loggers.logger import Logger, plain


class TensorBoardLogger(Logger):
    """Writes an event file into `log_dir`. `experiment` is its SummaryWriter, for pictures, histograms and texts of a program's own."""

    def __init__(
        self, save_dir, name="lightning_logs", version=None, log_graph=False, default_hp_metric=True, prefix="", sub_dir=None, **options
    ):
        super().__init__(save_dir, name, version, prefix)
        self._default_hp_metric, self._sub_dir, self._options = default_hp_metric, sub_dir, options
        self._writer = None

    @property
    def log_dir(self):
        return os.path.join(super().log_dir, self._sub_dir) if self._sub_dir else super().log_dir

    @property
    def experiment(self):
        """The SummaryWriter; its file is made when it is first asked for."""
        if self._writer is None:
            from tandem.utils.tensorboard import SummaryWriter

            os.makedirs(self.log_dir, exist_ok=True)
            self._writer = SummaryWriter(self.log_dir, **self._options)
        return self._writer

    def log_metrics(self, metrics, step=None):
        for name, value in self._named(metrics).items():
            self.experiment.add_scalar(name, value, step)

    def log_hyperparams(self, params, metrics=None, *args, **kwargs):
        """What the run was made with; with what came out of it, `metrics`, where that is known."""
        values = {name: value if isinstance(value, (bool, int, float, str)) else str(value) for name, value in plain(params).items()}
        if values:
            self.experiment.add_hparams(values, metrics or ({"hp_metric": -1.0} if self._default_hp_metric else {}))

    def save(self):
        if self._writer is not None:
            self._writer.flush()
