"""Hooks for DistributedDataParallel.register_comm_hook, and their names."""

from enum import Enum, member

from tandem.distributed.algorithms.ddp_comm_hooks import default_hooks


class DDPCommHookType(Enum):
    """How a bucket of gradients is averaged."""

    ALLREDUCE = member(default_hooks.allreduce_hook)
    FP16_COMPRESS = member(default_hooks.fp16_compress_hook)
    BF16_COMPRESS = member(default_hooks.bf16_compress_hook)


def register_ddp_comm_hook(comm_hook_type, model, state=None):
    """Registers the hook of that name with a DistributedDataParallel; `state` is the group of ranks, all unless given."""
    model.register_comm_hook(state, comm_hook_type.value)
