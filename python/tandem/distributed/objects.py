"""Collectives of any objects that can be pickled. Receive only from ranks that are trusted: what arrives is unpickled."""

import pickle

from tandem import _C
from tandem.distributed.collectives import all_gather_into_tensor, broadcast, gather, scatter
from tandem.distributed.groups import get_rank, get_world_size, global_rank_of, handle_of, is_outside, warn_not_in_group
from tandem.distributed.point_to_point import recv, send


def _bytes_of(value):
    """A pickled object as a uint8 tensor, and its size as an int64 tensor."""
    data = _C.frombuffer(bytearray(pickle.dumps(value)), dtype=_C.uint8)
    return data, _C.tensor([data.numel()], dtype=_C.int64)


def _object_of(data, size):
    return pickle.loads(memoryview(data[:size]))


def _is_here(group, rank):
    handle = handle_of(group)
    return handle.ranks()[handle.rank()] == rank


def _padded(data, size):
    whole = _C.zeros(size, dtype=_C.uint8)
    whole[: data.numel()] = data
    return whole


def _gathered_sizes(size, group):
    sizes = _C.empty(get_world_size(group), dtype=_C.int64)
    all_gather_into_tensor(sizes, size, group)
    return sizes.tolist()


def all_gather_object(object_list, obj, group=None, weights_only=False):
    """Into `object_list`: every rank's object."""
    if is_outside(group):
        return warn_not_in_group("all_gather_object")
    data, size = _bytes_of(obj)
    sizes = _gathered_sizes(size, group)
    all_data = _C.empty(len(sizes), max(sizes), dtype=_C.uint8)
    all_gather_into_tensor(all_data, _padded(data, max(sizes)), group)
    for rank, length in enumerate(sizes):
        object_list[rank] = _object_of(all_data[rank], length)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None, weights_only=False):
    """Into `object_gather_list` on rank `dst` (0 unless given): every rank's object. The others give no list."""
    if is_outside(group):
        return warn_not_in_group("gather_object")
    dst = global_rank_of("dst", group, dst, group_dst, default=0 if group_dst is None else None)
    here = _is_here(group, dst)
    if here and not object_gather_list:
        raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
    if not here and object_gather_list:
        raise ValueError("Argument ``object_gather_list`` must NOT be specified on non-destination ranks.")
    data, size = _bytes_of(obj)
    sizes = _gathered_sizes(size, group)
    parts = list(_C.empty(len(sizes), max(sizes), dtype=_C.uint8)) if here else None
    gather(_padded(data, max(sizes)), parts, dst, group)
    if here:
        for rank, length in enumerate(sizes):
            object_gather_list[rank] = _object_of(parts[rank], length)


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None, weights_only=False):
    """In place: the objects of rank `src` (0 unless given). All lists have one length."""
    if is_outside(group):
        return warn_not_in_group("broadcast_object_list")
    src = global_rank_of("src", group, src, group_src, default=0 if group_src is None else None)
    here = _is_here(group, src)
    sizes = _C.empty(len(object_list), dtype=_C.int64)
    if here:
        parts = [_bytes_of(value)[0] for value in object_list]
        sizes = _C.tensor([part.numel() for part in parts], dtype=_C.int64)
    broadcast(sizes, src, group)
    lengths = sizes.tolist()
    data = _C.cat(parts) if here and parts else _C.empty(sum(lengths), dtype=_C.uint8)
    broadcast(data, src, group)
    if not here:
        for i, part in enumerate(_C.split(data, lengths)):
            object_list[i] = _object_of(part, lengths[i])


def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False, weights_only=False):
    """Sends objects to rank `dst`, which calls recv_object_list with a list of as many."""
    parts = [_bytes_of(value)[0] for value in object_list]
    send(_C.tensor([part.numel() for part in parts], dtype=_C.int64), dst, group, group_dst=group_dst)
    send(_C.cat(parts), dst, group, group_dst=group_dst)


def recv_object_list(object_list, src=None, group=None, device=None, group_src=None, use_batch=False, weights_only=False):
    """Into `object_list`: the objects that rank `src` sends. Gives that rank."""
    sizes = _C.empty(len(object_list), dtype=_C.int64)
    rank = recv(sizes, src, group, group_src=group_src)
    lengths = sizes.tolist()
    data = _C.empty(sum(lengths), dtype=_C.uint8)
    recv(data, src, group, group_src=group_src)
    for i, part in enumerate(_C.split(data, lengths)):
        object_list[i] = _object_of(part, lengths[i])
    return rank


def scatter_object_list(
    scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None, weights_only=False
):
    """Into the first place of the output list: this rank's part of the list that rank `src` (0 unless given) gives."""
    if is_outside(group):
        return warn_not_in_group("scatter_object_list")
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    src = global_rank_of("src", group, src, group_src, default=0 if group_src is None else None)
    here = _is_here(group, src)
    parts = [_bytes_of(value)[0] for value in scatter_object_input_list] if here else []
    if here and len(parts) != get_world_size(group):
        raise ValueError(
            f"scatter_object_input_list must have an object for each of the {get_world_size(group)} ranks, but has {len(parts)}"
        )
    sizes = _C.tensor([part.numel() for part in parts], dtype=_C.int64) if here else _C.empty(get_world_size(group), dtype=_C.int64)
    broadcast(sizes, src, group)
    lengths = sizes.tolist()
    mine = _C.empty(max(lengths), dtype=_C.uint8)
    scatter(mine, [_padded(part, max(lengths)) for part in parts] if here else None, src, group)
    scatter_object_output_list[0] = _object_of(mine, lengths[get_rank(group)])
