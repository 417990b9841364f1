"""Optimizers whose state is divided among the ranks, or whose parameters are averaged over them."""

from tandem.distributed.optim.post_localSGD_optimizer import PostLocalSGDOptimizer  # noqa: F401
from tandem.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer  # noqa: F401
