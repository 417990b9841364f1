"""Training loops, by PyTorch Lightning's names: `import tandem.train as pl`. The Trainer of the C++ library, over modules in Python."""

from tandem.train import callbacks, loggers
from tandem.train.callbacks import Callback, EarlyStopping, LearningRateMonitor, ModelCheckpoint
from tandem.train.data_module import LightningDataModule
from tandem.train.loggers import CSVLogger, TensorBoardLogger
from tandem.train.module import LightningModule
from tandem.train.random_states import seed_everything
from tandem.train.trainer import Trainer

__all__ = [
    "CSVLogger",
    "Callback",
    "EarlyStopping",
    "LearningRateMonitor",
    "LightningDataModule",
    "LightningModule",
    "ModelCheckpoint",
    "TensorBoardLogger",
    "Trainer",
    "callbacks",
    "loggers",
    "seed_everything",
]
