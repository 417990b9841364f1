"""Layers whose work several ranks share, by the names of torch.distributed.tensor.parallel.

parallelize_module(model, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()}) leaves each rank its part of the weights, as plain
parameters, and puts the collectives between the layers. Sizes have to divide evenly.
"""

from tandem.distributed.tensor.parallel.api import parallelize_module
from tandem.distributed.tensor.parallel.style import (
    ColwiseParallel,
    ParallelStyle,
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
)

__all__ = [
    "ColwiseParallel", "ParallelStyle", "PrepareModuleInput", "PrepareModuleInputOutput", "PrepareModuleOutput", "RowwiseParallel",
    "SequenceParallel", "parallelize_module",
]  # fmt: skip
