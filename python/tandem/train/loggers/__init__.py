"""Where the figures of a run are written: files of comma-separated values, or of TensorBoard."""

from tandem.train.loggers.csv_logs import CSVLogger
from tandem.train.loggers.logger import Logger
from tandem.train.loggers.tensorboard import TensorBoardLogger

__all__ = ["CSVLogger", "Logger", "TensorBoardLogger", "loggers_of"]


def loggers_of(given, root):
    """The loggers that a Trainer's `logger` means: one or several, none for False, a CSVLogger in the root folder for None and True."""
    if given is None or given is True:
        return [CSVLogger(root)]
    if given is False:
        return []
    loggers = list(given) if isinstance(given, (list, tuple)) else [given]
    for logger in loggers:
        if not hasattr(logger, "log_metrics"):
            raise TypeError(
                f"[Trainer] {logger!r} is no logger: give a CSVLogger, a TensorBoardLogger, or an object with log_metrics(metrics, step)"
            )
    return loggers
