"""What is told of a run while it runs: callbacks, and those that most runs want."""

from tandem.train.callbacks.callback import Callback
from tandem.train.callbacks.early_stopping import EarlyStopping
from tandem.train.callbacks.learning_rate_monitor import LearningRateMonitor
from tandem.train.callbacks.model_checkpoint import Checkpoint, ModelCheckpoint

__all__ = ["Callback", "Checkpoint", "EarlyStopping", "LearningRateMonitor", "ModelCheckpoint"]
