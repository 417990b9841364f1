"""fully_shard and what goes with it, where programs of before PyTorch 2.6 import it from."""

from tandem.distributed.fsdp import (  # noqa: F401
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    OffloadPolicy,
    UnshardHandle,
    fully_shard,
    register_fsdp_forward_method,
)
