"""The options of FullyShardedDataParallel and of the state dictionaries it gives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from tandem import _C
from tandem.nn.modules.batchnorm import _BatchNorm


class ShardingStrategy(Enum):
    """What is divided among the ranks, and when parameters are given up.

    FULL_SHARD gives them up behind forward and backward, SHARD_GRAD_OP behind backward alone; with NO_SHARD every rank has all of them."""

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When the next unit of backward is gathered."""

    BACKWARD_PRE = auto()  # beside the backward of the one before it
    BACKWARD_POST = auto()  # after that, so that one unit is whole at a time


@dataclass
class MixedPrecision:
    """Dtypes that parameters compute in, gradients are averaged in, and buffers are kept in. The shards keep their own dtype."""

    param_dtype: _C.dtype | None = None
    reduce_dtype: _C.dtype | None = None
    buffer_dtype: _C.dtype | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Sequence[type] = (_BatchNorm,)


@dataclass
class CPUOffload:
    """With `offload_params` shards and their gradients stay on the CPU; optimizers step there."""

    offload_params: bool = False


class StateDictType(Enum):
    """What state_dict gives: whole parameters; this rank's flat parameters; or this rank's part of each parameter."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


@dataclass
class StateDictConfig:
    """Where the tensors of a state dictionary go."""

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """With `rank0_only` the other ranks get an empty dictionary."""

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """The same of LOCAL_STATE_DICT."""


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """The same of SHARDED_STATE_DICT."""

    _use_dtensor: bool = False


@dataclass
class OptimStateDictConfig:
    """Where the tensors of an optimizer's state dictionary go."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """With `rank0_only` the other ranks get an empty dictionary."""

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """The same of LOCAL_STATE_DICT."""

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """The same of SHARDED_STATE_DICT."""

    _use_dtensor: bool = False


@dataclass
class StateDictSettings:
    """What state_dict and optim_state_dict give."""

    state_dict_type: StateDictType = StateDictType.FULL_STATE_DICT
    state_dict_config: StateDictConfig = field(default_factory=FullStateDictConfig)
    optim_state_dict_config: OptimStateDictConfig = field(default_factory=FullOptimStateDictConfig)


class OptimStateKeyType(Enum):
    """What an optimizer's state dictionary calls parameters by."""

    PARAM_NAME = auto()
    PARAM_ID = auto()
