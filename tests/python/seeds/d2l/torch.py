"""What the notebook takes from d2l: methods added to a class afterwards, and a trainer that keeps its arguments."""

import inspect

import torch


def add_to_class(cls):
    """A decorator that makes the function a method of the class."""

    def add(function):
        setattr(cls, function.__name__, function)

    return add


def num_gpus():
    return torch.cuda.device_count()


def gpu(i=0):
    return torch.device(f"cuda:{i}")


class Trainer:
    """Takes its methods from the notebook."""

    def save_hyperparameters(self):
        """Keeps the caller's arguments as attributes."""
        values = inspect.currentframe().f_back.f_locals
        vars(self).update((name, value) for name, value in values.items() if name != "self")
