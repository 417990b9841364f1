"""The ranks of the program, and groups of some of them: how they are made, and what is known of them."""

import os
import warnings
from datetime import timedelta
from enum import Enum

from tandem import _C
from tandem.distributed.meeting import find_ranks

_c = _C._distributed
default_pg_timeout = timedelta(minutes=30)
_NO_GROUP = "Default process group has not been initialized, please make sure to call init_process_group."
_NAMES = ("gloo", "nccl", "mpi", "ucc", "xccl", "tandem", "local", "fake")


class Backend(str):
    """The name of a back end, in small letters. All of PyTorch's are taken, and mean: what fits this machine."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, TANDEM = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "tandem"

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return str.__new__(cls, name.lower())


class ProcessGroup:
    """A group of ranks, as this rank sees it."""

    def __init__(self, handle, name, backend):
        self._handle = handle
        self.group_name = name
        self._backend = backend

    def rank(self):
        """This rank's number in the group."""
        return self._handle.rank()

    def size(self):
        """How many ranks are in it."""
        return self._handle.size()

    def name(self):
        """The name of its back end."""
        return self._backend

    def abort(self, reason="aborted by this rank"):
        """Ends every wait in the group, on any rank that can be reached; the group is dead from then on."""
        self._handle.abort(reason)

    def recorded_calls(self, json=False):
        """The last calls of each rank that can be seen from here, as lines or as JSON."""
        return self._handle.recorded_calls(json)

    def __repr__(self):
        return f"<ProcessGroup {self.group_name}: ranks {self._handle.ranks()}, backend {self._backend}>"


class _WorldMeta(type):
    @property
    def WORLD(cls):
        return _World.group

    @WORLD.setter
    def WORLD(cls, group):
        _World.group = group


class _World:
    """What this process knows of its groups."""

    group = None
    groups = {}  # all of them, by name
    made = 0


class group(metaclass=_WorldMeta):
    """`group.WORLD` is the group of all ranks."""


class GroupMember(metaclass=_WorldMeta):
    """`GroupMember.NON_GROUP_MEMBER` stands for a group that this rank is not in."""

    NON_GROUP_MEMBER = -100


def is_available():
    """True: it is built in."""
    return True


def is_initialized():
    """Whether init_process_group has been called."""
    return _World.group is not None


def is_gloo_available():
    """True: the name is taken, and served by tandem's own back end."""
    return True


def is_nccl_available():
    """True, as is_gloo_available."""
    return True


def is_mpi_available():
    """Whether MPI started this process, or its back end can be asked for."""
    return True


def is_ucc_available():
    """False."""
    return False


def is_xccl_available():
    """False."""
    return False


def is_backend_available(backend):
    """Whether init_process_group takes the name."""
    return backend.lower() in _NAMES


def is_torchelastic_launched():
    """Whether `python -m tandem.distributed.run`, or torchrun, started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_node_local_rank(fallback_rank=None):
    """The number of this rank on its machine, from LOCAL_RANK."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
        "assuming you are not running in a multi-device context and want the code to run locally instead."
    )


def _back_end(backend):
    """The name of C++'s back end: MPI's and real NCCL where they are asked for, else what fits."""
    if backend is None:
        return "", "tandem"
    name = Backend(backend)
    parts = [part.split(":")[-1] for part in name.split(",")]
    for part in parts:
        if part not in _NAMES:
            raise ValueError(f"Invalid backend: '{backend}'; there are {', '.join(_NAMES)}")
    if "mpi" in parts:
        return "mpi", name
    if "nccl" in parts and _C.cuda.device_count() > 0 and not _C.cuda.device_properties(None)["is_virtual"]:
        return "nccl", name
    return "", name


def _milliseconds(timeout):
    if timeout is None:
        timeout = default_pg_timeout
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return max(1, int(timeout.total_seconds() * 1000))


def init_process_group(
    backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None, device_id=None,
    enable_reconfigure=False
):
    """Makes this process one rank of the program. Waits for all ranks.

    Ranks find each other by the environment (`env://`: MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE), a `tcp://host:port`, a
    `file:///path` or a store. On one machine they share memory; on several, MPI carries (`tandem launch --hosts`)."""
    if _World.group is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    name, shown = _back_end(backend)
    milliseconds = _milliseconds(timeout)
    rank, world_size, meeting = find_ranks(name, init_method, world_size, rank, store, milliseconds / 1000)
    _c.init(name, rank, world_size, meeting, milliseconds)
    _World.made = 0
    _World.group = _register(_c.everyone(), shown)


def _register(handle, backend):
    made = ProcessGroup(handle, str(_World.made), backend)
    _World.made += 1
    _World.groups[made.group_name] = made
    return made


def destroy_process_group(group=None):
    """This rank leaves the group; without one, or with that of all ranks, all groups end."""
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    if _World.group is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is _World.group:
        _World.group = None
        _World.groups.clear()
        _c.destroy()
    elif _World.groups.pop(group.group_name, None) is None:
        raise ValueError("Invalid process group specified")


def _get_default_group():
    """The group of all ranks; ValueError where there is none."""
    if _World.group is None:
        raise ValueError(_NO_GROUP)
    return _World.group


def handle_of(group):
    """C++'s group of one that a call was given, None meaning all ranks."""
    if group is None or group is _World.group:
        return _get_default_group()._handle
    if not isinstance(group, ProcessGroup):
        raise TypeError(f"Invalid process group: {group!r}")
    if group.group_name not in _World.groups:
        raise ValueError("Invalid process group specified or it has been destroyed")
    return group._handle


def is_outside(group):
    """Whether this rank is not in the group."""
    return group == GroupMember.NON_GROUP_MEMBER


def get_rank(group=None):
    """This rank's number, from 0; -1 where it is not in `group`."""
    return -1 if is_outside(group) else handle_of(group).rank()


def get_world_size(group=None):
    """How many ranks are in `group`, else in the program; -1 where this rank is not in it."""
    return -1 if is_outside(group) else handle_of(group).size()


def get_backend(group=None):
    """The name that the group was made with: 'gloo', or 'tandem' where none was given."""
    if is_outside(group):
        raise AssertionError("Invalid process group specified")
    handle_of(group)
    return (group or _World.group)._backend


def get_process_group_ranks(group):
    """The members' ranks in the whole program."""
    return handle_of(group).ranks()


def get_group_rank(group, global_rank):
    """The number in the group of a rank of the program."""
    ranks = handle_of(group).ranks()
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_global_rank(group, group_rank):
    """The rank in the whole program of a member of the group."""
    ranks = handle_of(group).ranks()
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def global_rank_of(what, group, rank, group_rank, default=None):
    """The rank in the whole program that a call means by `rank` or by `group_rank`."""
    if rank is not None and group_rank is not None:
        raise ValueError(f"Can't specify both group_{what} and {what}")
    if group_rank is not None:
        return get_global_rank(group, group_rank)
    if rank is None:
        rank = default
    if rank is None:
        raise ValueError(f"Must specify {what} or group_{what}")
    if rank not in handle_of(group).ranks():
        raise ValueError(f"Global rank {rank} is not part of group {group if group is not None else _World.group}")
    return rank


def new_group(
    ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None, device_id=None,
    sort_ranks=True
):
    """A group of some ranks; all without `ranks`. Every rank of the program calls it, in the same order.

    A rank that is not in it gets `GroupMember.NON_GROUP_MEMBER`."""
    everyone = _get_default_group()
    if ranks is None:
        ranks = range(everyone.size())
    ranks = sorted(ranks) if sort_ranks else list(ranks)
    for rank in ranks:
        if not 0 <= rank < everyone.size():
            raise ValueError("The new group's rank should be within the world_size set by init_process_group")
    if len(set(ranks)) != len(ranks):
        raise ValueError(f"ranks {ranks} has duplicates")
    shown = everyone._backend if backend is None else _back_end(backend)[1]
    handle = _c.new_group(ranks)
    if handle is None:
        _World.made += 1
        return GroupMember.NON_GROUP_MEMBER
    return _register(handle, shown)


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """The program's ranks in groups of `group_size` neighbours: this rank's group, and all of them."""
    world_size = get_world_size()
    if group_size is None:
        group_size = int(os.environ.get("LOCAL_WORLD_SIZE", world_size))
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if world_size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({world_size})")
    if world_size % group_size != 0:
        raise ValueError(f"The world size ({world_size}) must be divisible by '{group_size=}'")
    groups, mine = [], None
    for first in range(0, world_size, group_size):
        made = new_group(range(first, first + group_size), timeout, backend)
        groups.append(made)
        if not is_outside(made):
            mine = made
    return mine, groups


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Groups of the lists' ranks: this rank's group, None where it is in none, and all of them."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    groups = [new_group(ranks, timeout, backend) for ranks in ranks_per_subgroup_list]
    mine = [made for made in groups if not is_outside(made)]
    if len(mine) > 1:
        raise ValueError("Rank has been assigned to both subgroups")
    return (mine[0] if mine else None), groups


def split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None, backend=None):
    """Divides a group by lists of its ranks' numbers: this rank's part, NON_GROUP_MEMBER where it is in none.

    The parent is the group of all ranks; every rank calls it."""
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    if parent_pg is not None and parent_pg is not _get_default_group():
        raise NotImplementedError("split_group: only the group of all ranks can be split: use new_group, which every rank calls")
    if len({rank for ranks in split_ranks for rank in ranks}) != sum(len(ranks) for ranks in split_ranks):
        raise ValueError("the split group cannot have duplicate ranks")
    mine = GroupMember.NON_GROUP_MEMBER
    for ranks in split_ranks:
        made = new_group(ranks, timeout, backend)
        if not is_outside(made):
            mine = made
    return mine


def get_pg_count():
    """How many groups this rank is in."""
    return len(_World.groups)


def get_default_backend_for_device(device):
    """PyTorch's name for what serves a device: 'gloo' or 'nccl'."""
    return "gloo" if _C.device(device).type == "cpu" else "nccl"


class DebugLevel(Enum):
    """How much is checked, as TORCH_DISTRIBUTED_DEBUG names it. Ranks' calls are compared in any case."""

    OFF = 0
    INFO = 1
    DETAIL = 2


_debug_level = [DebugLevel.OFF]


def get_debug_level():
    """What was set."""
    return _debug_level[0]


def set_debug_level(level):
    """Accepted."""
    _debug_level[0] = level


def set_debug_level_from_env():
    """From TORCH_DISTRIBUTED_DEBUG."""
    set_debug_level(DebugLevel[os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF")])


def symmetric_zeros(*size, dtype=None, group=None):
    """Zeros on the CPU in memory that all ranks of one machine reach, so that collectives of them copy nothing on the way."""
    sizes = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return _c.symmetric_zeros(handle_of(group), tuple(sizes), _C.get_default_dtype() if dtype is None else dtype)


def warn_not_in_group(name):
    """Says that a call does nothing here."""
    rank = _get_default_group().rank()
    warnings.warn(f"Running {name} on global rank {rank} which does not belong to the given group.", stacklevel=3)
