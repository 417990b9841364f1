# Written by python/generate/stubs.py.
from tandem.distributed.optim.post_localSGD_optimizer import (
    PostLocalSGDOptimizer as PostLocalSGDOptimizer,
)
from tandem.distributed.optim.zero_redundancy_optimizer import (
    ZeroRedundancyOptimizer as ZeroRedundancyOptimizer,
)
