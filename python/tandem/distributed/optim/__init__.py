"""Optimizers whose state is divided among the ranks."""

from tandem.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer  # noqa: F401
