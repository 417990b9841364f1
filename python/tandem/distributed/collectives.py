"""The collectives: every rank of a group calls the same one.

Without `async_op` they give None when they are done, or ordered with the GPU's work; with it, a Work."""

from tandem import _C
from tandem.distributed.groups import _milliseconds, global_rank_of, handle_of, is_outside, warn_not_in_group
from tandem.distributed.work import Done, Future, ReduceOp, Work

_c = _C._distributed


def finish(handle, async_op, after=None, result=()):
    """What a collective returns: a Work, or None once `after` has been done."""
    if async_op:
        return Work(handle, after, result)
    if after is not None:
        after()
    return None


def _copy_parts(flat, tensors):
    """Puts consecutive elements of a flat tensor into tensors."""
    def copy():
        first = 0
        for tensor in tensors:
            tensor.detach().copy_(flat[first:first + tensor.numel()].reshape(tensor.shape))
            first += tensor.numel()
    return copy


def _flat(tensors):
    """All elements of some tensors in one vector."""
    return _C.cat([tensor.detach().reshape(-1) for tensor in tensors])


def _check_tensors(tensors, name):
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(tensor, _C.Tensor) for tensor in tensors):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor] instead got {type(tensors)}.")


def _check_tensor(tensor, name):
    if not isinstance(tensor, _C.Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n             instead got {type(tensor)}."
        )


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """In place: all ranks' tensors reduced by `op`."""
    _check_tensor(tensor, "tensor")
    if is_outside(group):
        return warn_not_in_group("all_reduce")
    return finish(_c.all_reduce(handle_of(group), tensor, op, async_op), async_op, result=(tensor,))


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """In place: the same for many tensors of one dtype and device, in few steps."""
    tensors = [tensors] if isinstance(tensors, _C.Tensor) else tensors
    _check_tensors(tensors, "tensors")
    if is_outside(group):
        return warn_not_in_group("all_reduce_coalesced")
    return finish(_c.all_reduce_coalesced(handle_of(group), tensors, op, async_op), async_op, result=tensors)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """In place: the tensor of rank `src`."""
    _check_tensor(tensor, "tensor")
    if is_outside(group):
        return warn_not_in_group("broadcast")
    src = global_rank_of("src", group, src, group_src)
    return finish(_c.broadcast(handle_of(group), tensor, src, async_op), async_op, result=(tensor,))


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """In place on rank `dst`: all ranks' tensors reduced by `op`. Elsewhere the tensor stays as it is."""
    _check_tensor(tensor, "tensor")
    if is_outside(group):
        return warn_not_in_group("reduce")
    dst = global_rank_of("dst", group, dst, group_dst)
    return finish(_c.reduce(handle_of(group), tensor, dst, op, async_op), async_op, result=(tensor,))


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Into `tensor_list`: every rank's tensor, in the order of the ranks. All have one size."""
    _check_tensors(tensor_list, "tensor_list")
    _check_tensor(tensor, "tensor")
    if is_outside(group):
        return warn_not_in_group("all_gather")
    handle = handle_of(group)
    if len(tensor_list) != handle.size():
        raise ValueError(
            f"all_gather: the list of outputs must have a tensor for each of the {handle.size()} ranks, but has {len(tensor_list)}"
        )
    flat = _C.empty(handle.size() * tensor.numel(), dtype=tensor.dtype, device=tensor.device)
    return finish(_c.all_gather_into_tensor(handle, flat, tensor, async_op), async_op, _copy_parts(flat, tensor_list), tensor_list)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """Into `output_tensor`: every rank's tensor joined along dimension 0, or stacked."""
    _check_tensor(output_tensor, "output_tensor")
    _check_tensor(input_tensor, "input_tensor")
    if is_outside(group):
        return warn_not_in_group("all_gather_into_tensor")
    return finish(_c.all_gather_into_tensor(handle_of(group), output_tensor, input_tensor, async_op), async_op, result=(output_tensor,))


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """all_gather of several tensors: `output_tensor_lists[i]` gets every rank's `input_tensor_list[i]`. With `async_op` a Future."""
    _check_tensors(input_tensor_list, "tensor_list")
    if not isinstance(output_tensor_lists, list):
        raise TypeError("Invalid function argument: output_tensor_lists should be a list")
    for output in output_tensor_lists:
        _check_tensors(output, "output_tensor_lists")
    if is_outside(group):
        return warn_not_in_group("all_gather_coalesced")
    works = [all_gather(outputs, tensor, group, True) for outputs, tensor in zip(output_tensor_lists, input_tensor_list)]

    def finished():
        for work in works:
            work.wait()
        return output_tensor_lists

    future = Future._of(finished, lambda: all(work.is_completed() for work in works))
    if async_op:
        return future
    future.wait()
    return None


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Into `output`: this rank's part of all ranks' lists, reduced by `op`."""
    _check_tensor(output, "output")
    _check_tensors(input_list, "input_list")
    if is_outside(group):
        return warn_not_in_group("reduce_scatter")
    return finish(_c.reduce_scatter_tensor(handle_of(group), output, _flat(input_list), op, async_op), async_op, result=(output,))


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """Into `output`: this rank's part, along dimension 0, of all ranks' inputs reduced by `op`."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    if is_outside(group):
        return warn_not_in_group("reduce_scatter_tensor")
    return finish(_c.reduce_scatter_tensor(handle_of(group), output, input, op, async_op), async_op, result=(output,))


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """Part r of `input` along dimension 0 goes to rank r; part r of `output` comes from it. Parts are equal unless sizes are given."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    if is_outside(group):
        return warn_not_in_group("all_to_all_single")
    handle = _c.all_to_all_single(handle_of(group), output, input, output_split_sizes or [], input_split_sizes or [], async_op)
    return finish(handle, async_op, result=(output,))


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """`input_tensor_list[r]` goes to rank r; `output_tensor_list[r]` comes from it. Sizes may differ."""
    _check_tensors(output_tensor_list, "output_tensor_list")
    _check_tensors(input_tensor_list, "input_tensor_list")
    if is_outside(group):
        return warn_not_in_group("all_to_all")
    flat_input = _flat(input_tensor_list)
    sizes = [tensor.numel() for tensor in output_tensor_list]
    flat = _C.empty(sum(sizes), dtype=flat_input.dtype, device=flat_input.device)
    handle = _c.all_to_all_single(handle_of(group), flat, flat_input, sizes, [tensor.numel() for tensor in input_tensor_list], async_op)
    return finish(handle, async_op, _copy_parts(flat, output_tensor_list), output_tensor_list)


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """Into `gather_list` on rank `dst` (0 unless given): every rank's tensor. The others give no list."""
    _check_tensor(tensor, "tensor")
    if is_outside(group):
        return warn_not_in_group("gather")
    dst = global_rank_of("dst", group, dst, group_dst, default=0 if group_dst is None else None)
    handle = handle_of(group)
    here = handle.ranks()[handle.rank()] == dst
    if here and not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if not here and gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    for part, gathered in zip(gather_list or (), _c.gather(handle, tensor, dst)):
        part.detach().copy_(gathered)
    return finish(Done(), async_op, result=gather_list or ())


def gather_single(tensor, gather_tensor=None, dst=None, group=None, async_op=False, group_dst=None):
    """Into `gather_tensor` on rank `dst` (0 unless given): every rank's tensor joined along dimension 0, or stacked.

    The others give none."""
    if gather_tensor is None:
        return gather(tensor, None, dst, group, async_op, group_dst)
    parts = list(gather_tensor.detach().reshape(-1, *tensor.shape) if tensor.dim() else gather_tensor.detach().reshape(-1))
    return gather(tensor, parts, dst, group, async_op, group_dst)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Into `tensor`: this rank's part of the list that rank `src` (0 unless given) gives. The others give no list."""
    _check_tensor(tensor, "tensor")
    if is_outside(group):
        return warn_not_in_group("scatter")
    src = global_rank_of("src", group, src, group_src, default=0 if group_src is None else None)
    handle = handle_of(group)
    here = handle.ranks()[handle.rank()] == src
    if here and not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    if not here and scatter_list:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    return finish(_c.scatter(handle, tensor, scatter_list or [], src, async_op), async_op, result=(tensor,))


def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Returns when every rank has called it; `timeout` is for a call that waits."""
    if is_outside(group):
        return warn_not_in_group("barrier")
    if timeout is not None and not async_op:
        return monitored_barrier(group, timeout)
    return finish(_c.barrier(handle_of(group), async_op), async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """The same with a limit of its own; its error names every rank that is missing."""
    if is_outside(group):
        return warn_not_in_group("monitored_barrier")
    _c.monitored_barrier(handle_of(group), _milliseconds(timeout))
