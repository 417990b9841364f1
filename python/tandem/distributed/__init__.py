"""Several ranks of one program, which work together by collectives. As torch.distributed."""

from tandem.distributed import distributed_c10d  # noqa: F401
from tandem.distributed.collectives import (  # noqa: F401
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    gather_single,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
)
from tandem.distributed.groups import (  # noqa: F401
    Backend,
    DebugLevel,
    GroupMember,
    ProcessGroup,
    default_pg_timeout,
    destroy_process_group,
    get_backend,
    get_debug_level,
    get_default_backend_for_device,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_initialized,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
    set_debug_level,
    set_debug_level_from_env,
    split_group,
    symmetric_zeros,
)
from tandem.distributed.objects import (  # noqa: F401
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from tandem.distributed.point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send  # noqa: F401
from tandem.distributed.stores import FileStore, HashStore, PrefixStore, Store, TCPStore  # noqa: F401
from tandem.distributed.work import Future, ReduceOp, Work, reduce_op  # noqa: F401

# Other names for the same.
all_gather_single, reduce_scatter_single = all_gather_into_tensor, reduce_scatter_tensor
_all_gather_base, _reduce_scatter_base = all_gather_into_tensor, reduce_scatter_tensor
gather_into_tensor = gather_single

DistError = DistBackendError = DistNetworkError = DistStoreError = QueueEmptyError = RuntimeError

_LAZY_PARTS = ("algorithms", "checkpoint", "optim", "run", "elastic", "launch", "fsdp", "device_mesh", "_composable", "nn", "tensor", "pipelining")
_LAZY_NAMES = {
    "DeviceMesh": "tandem.distributed.device_mesh",
    "init_device_mesh": "tandem.distributed.device_mesh",
    "GradBucket": "tandem.nn.parallel._grad_bucket",
}


def breakpoint(rank=0, skip=0, timeout_s=3600):
    """Stops one rank in the debugger, the first `skip` times not; the others wait for it."""
    seen = breakpoint.__dict__.setdefault("calls", 0)
    breakpoint.calls += 1
    if seen < skip:
        return
    if get_rank() == rank:
        import pdb
        pdb.set_trace()  # noqa: T100
    barrier()


def __getattr__(name):
    """The parts that are imported when they are first asked for."""
    import importlib
    if name in _LAZY_PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module(_LAZY_NAMES[name]), name)
    raise AttributeError(f"module 'tandem.distributed' has no attribute '{name}'")
