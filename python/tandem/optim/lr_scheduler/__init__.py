"""Schedules of learning rates: they change `lr` in an optimizer's groups, an epoch or a batch at a time."""
from tandem._moved import say_from as _say_from
from tandem.optim.lr_scheduler.base import LRScheduler, _LRScheduler
from tandem.optim.lr_scheduler.composed import ChainedScheduler, SequentialLR
from tandem.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from tandem.optim.lr_scheduler.cycles import CyclicLR, OneCycleLR
from tandem.optim.lr_scheduler.factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from tandem.optim.lr_scheduler.plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]

for _name in __all__:  # programs tell schedules from functions by where they are from, and PyTorch has them in one file
    _say_from(globals()[_name], __name__)
del _name
