"""Names by which programs reach into torch.distributed.distributed_c10d."""

from tandem.distributed.groups import (  # noqa: F401
    Backend,
    GroupMember,
    ProcessGroup,
    _get_default_group,
    default_pg_timeout,
    get_global_rank,
    get_group_rank,
    get_rank,
    get_world_size,
    group,
    is_initialized,
)
from tandem.distributed.work import ReduceOp, Work  # noqa: F401
