"""Optimizers, the schedules of their learning rates, and averages of weights."""
from tandem.optim import lr_scheduler, swa_utils
from tandem.optim.adadelta import Adadelta
from tandem.optim.adagrad import Adagrad
from tandem.optim.adam import Adam
from tandem.optim.adamax import Adamax
from tandem.optim.adamw import AdamW
from tandem.optim.asgd import ASGD
from tandem.optim.lbfgs import LBFGS
from tandem.optim.nadam import NAdam
from tandem.optim.optimizer import Optimizer
from tandem.optim.radam import RAdam
from tandem.optim.rmsprop import RMSprop
from tandem.optim.rprop import Rprop
from tandem.optim.sgd import SGD

__all__ = [
    "ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SGD",
    "lr_scheduler", "swa_utils",
]
