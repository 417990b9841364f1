"""Messages between two ranks."""

from tandem import _C
from tandem.distributed.collectives import _check_tensor
from tandem.distributed.groups import get_global_rank, global_rank_of, handle_of, is_outside, warn_not_in_group
from tandem.distributed.work import Work

_c = _C._distributed


def _source_of(group, src, group_src):
    if src is None and group_src is None:
        handle = handle_of(group)
        others = [rank for rank in handle.ranks() if rank != handle.ranks()[handle.rank()]]
        if len(others) == 1:
            return others[0]
        raise ValueError("recv from any rank is not supported where there are several others: give src")
    return global_rank_of("src", group, src, group_src)


def _destination_of(group, dst, group_dst):
    dst = global_rank_of("dst", group, dst, group_dst)
    handle = handle_of(group)
    if handle.ranks()[handle.rank()] == dst:
        raise ValueError("Invalid destination rank: destination rank should not be the same as the rank of the current process.")
    return dst


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Begins to send to rank `dst`; the tensor must not be changed before the Work's wait."""
    _check_tensor(tensor, "tensor")
    if is_outside(group):
        return warn_not_in_group("isend")
    return Work(_c.isend(handle_of(group), tensor, _destination_of(group, dst, group_dst), tag, True), result=(tensor,))


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Begins to receive from rank `src`; the tensor must not be used before the Work's wait."""
    _check_tensor(tensor, "tensor")
    if is_outside(group):
        return warn_not_in_group("irecv")
    source = _source_of(group, src, group_src)
    return Work(_c.irecv(handle_of(group), tensor, source, tag, True), result=(tensor,), source=source)


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Sends to rank `dst`, which calls recv with a tensor of as many elements. Those of one pair and tag arrive in their order."""
    _check_tensor(tensor, "tensor")
    if is_outside(group):
        return warn_not_in_group("send")
    _c.isend(handle_of(group), tensor, _destination_of(group, dst, group_dst), tag, False)


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receives from rank `src`. Gives that rank; -1 where this one is not in the group."""
    _check_tensor(tensor, "tensor")
    if is_outside(group):
        warn_not_in_group("recv")
        return -1
    source = _source_of(group, src, group_src)
    _c.irecv(handle_of(group), tensor, source, tag, False)
    return source


class P2POp:
    """One message for batch_isend_irecv: `op` is isend or irecv."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or ``torch.distributed.irecv``.")
        _check_tensor(tensor, "tensor")
        self.op = op
        self.tensor = tensor
        self.peer = get_global_rank(group, group_peer) if peer is None else peer
        self.group = group
        self.tag = tag

    def __repr__(self):
        return f"P2POp({self.op.__name__} pg={self.group}, peer={self.peer}, shape={self.tensor.shape}, dtype={self.tensor.dtype})"


def batch_isend_irecv(p2p_op_list):
    """Begins all the messages, and gives a Work for each."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(one, P2POp) for one in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    return [one.op(one.tensor, one.peer, one.group, one.tag) for one in p2p_op_list]
