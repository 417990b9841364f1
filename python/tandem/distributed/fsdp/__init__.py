"""Parameters, gradients and optimizer states divided among the ranks: FullyShardedDataParallel and fully_shard."""

from tandem.distributed.fsdp import api, wrap  # noqa: F401
from tandem.distributed.fsdp._fully_shard import (  # noqa: F401
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    OffloadPolicy,
    UnshardHandle,
    fully_shard,
    register_fsdp_forward_method,
    share_comm_ctx,
)
from tandem.distributed.fsdp._unit import FlatParameter  # noqa: F401
from tandem.distributed.fsdp.fully_sharded_data_parallel import (  # noqa: F401
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    FullyShardedDataParallel,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)
from tandem.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler  # noqa: F401
