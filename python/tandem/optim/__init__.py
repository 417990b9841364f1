"""Optimizers, the schedules of their learning rates, and averages of weights."""
from tandem.optim import lr_scheduler, swa_utils
from tandem.optim.adadelta import Adadelta
from tandem.optim.adafactor import Adafactor
from tandem.optim.adagrad import Adagrad
from tandem.optim.adam import Adam
from tandem.optim.adamax import Adamax
from tandem.optim.adamw import AdamW
from tandem.optim.asgd import ASGD
from tandem.optim.lbfgs import LBFGS
from tandem.optim.muon import Muon
from tandem.optim.nadam import NAdam
from tandem.optim.optimizer import Optimizer
from tandem.optim.radam import RAdam
from tandem.optim.rmsprop import RMSprop
from tandem.optim.rprop import Rprop
from tandem.optim.sgd import SGD
from tandem.optim.swap import swap_in_optimizer_params_and_state

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SGD",
    "lr_scheduler", "swa_utils", "swap_in_optimizer_params_and_state",
]
