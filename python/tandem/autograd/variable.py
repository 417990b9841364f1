"""torch.autograd.variable: the old name of a tensor, by its old place."""

from . import Variable

__all__ = ["Variable"]
