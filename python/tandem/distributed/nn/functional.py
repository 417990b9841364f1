"""The collectives as differentiable functions: they give new tensors. All ranks call backward, which sends gradients the other way."""

from tandem import _C, distributed as dist
from tandem.autograd import Function
from tandem.distributed.groups import handle_of
from tandem.distributed.work import ReduceOp

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter", "scatter",
]


def _dense(tensor):
    return tensor.detach().contiguous()


def _room(size, tensor):
    """What a collective writes a tensor of that size into, beside this one and of its dtype."""
    return _C.empty(size, dtype=tensor.dtype, device=tensor.device)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, op, group, tensor):
        ctx.op, ctx.group = op, group
        made = _dense(tensor).clone()
        dist.all_reduce(made, op, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx, src, group, tensor):
        ctx.src, ctx.group = src, group
        made = _dense(tensor).clone()
        dist.broadcast(made, src, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        summed = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grad)
        return None, None, summed if dist.get_rank() == ctx.src else _C.zeros_like(summed)


class _Reduce(Function):
    @staticmethod
    def forward(ctx, dst, op, group, tensor):
        ctx.dst, ctx.group = dst, group
        made = _dense(tensor).clone()
        dist.reduce(made, dst, op, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _Gather(Function):
    @staticmethod
    def forward(ctx, dst, group, tensor):
        ctx.dst, ctx.group = dst, group
        parts = [_C.zeros_like(tensor.detach()) for _ in range(handle_of(group).size())]
        dist.gather(_dense(tensor), parts if dist.get_rank() == dst else None, dst, group)
        return tuple(parts)

    @staticmethod
    def backward(ctx, *grads):
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx, src, group, *tensors):
        ctx.src, ctx.group = src, group
        made = _C.zeros_like(tensors[0].detach())
        dist.scatter(made, [_dense(tensor) for tensor in tensors] if dist.get_rank() == src else None, src, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, *_Gather.apply(ctx.src, ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx, group, tensor):
        ctx.group = group
        made = [_room(tensor.shape, tensor) for _ in range(handle_of(group).size())]
        dist.all_gather(made, _dense(tensor), group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, *grads)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, op, group, *tensors):
        ctx.group = group
        made = _room(tensors[0].shape, tensors[0])
        dist.reduce_scatter(made, [_dense(tensor) for tensor in tensors], op, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, *_AllGather.apply(ctx.group, grad)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx, group, sizes, *tensors):
        ctx.group, ctx.sizes = group, [tensor.shape for tensor in tensors]
        made = [_room(size, tensors[0]) for size in sizes]
        dist.all_to_all(made, [_dense(tensor) for tensor in tensors], group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        return None, None, *_AllToAll.apply(ctx.group, ctx.sizes, *grads)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx, group, size, output_splits, input_splits, tensor):
        ctx.group, ctx.size, ctx.output_splits, ctx.input_splits = group, tensor.shape, output_splits, input_splits
        made = _room(size, tensor)
        dist.all_to_all_single(made, _dense(tensor), output_splits, input_splits, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, None, None, _AllToAllSingle.apply(ctx.group, ctx.size, ctx.input_splits, ctx.output_splits, grad)


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    """All ranks' tensors reduced by `op`. The gradient is the ranks' gradients reduced by the same `op`."""
    return _AllReduce.apply(op, group, tensor)


def broadcast(tensor, src, group=None):
    """The tensor of rank `src`, whose gradient is the sum of the ranks'; the others' is 0."""
    return _Broadcast.apply(src, group, tensor)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    """On rank `dst` all ranks' tensors reduced by `op`, elsewhere a copy of its own. The gradient is that of rank `dst`."""
    return _Reduce.apply(dst, op, group, tensor)


def gather(tensor, dst=0, group=None):
    """On rank `dst` a tuple of all ranks' tensors, zeros elsewhere. Each gets its own gradient from rank `dst`."""
    return _Gather.apply(dst, group, tensor)


def scatter(tensors, src=0, group=None):
    """This rank's one of the list of rank `src`; the others' lists say the sizes."""
    return _Scatter.apply(src, group, *tensors)


def all_gather(tensor, group=None):
    """A tuple of all ranks' tensors, in the order of the ranks. The gradient is the sum of the ranks' gradients of this rank's part."""
    return _AllGather.apply(group, tensor)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    """This rank's part of all ranks' lists, reduced by `op`, as a new tensor; `output` says its place only and stays as it is."""
    return _ReduceScatter.apply(op, group, *input_list)


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    """A tuple of the tensors that the ranks send to this one, of the sizes in `output_tensor_list`."""
    return _AllToAll.apply(group, [tensor.shape for tensor in output_tensor_list], *input_tensor_list)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    """The parts that the ranks send to this one, joined along dimension 0, in a new tensor of output's size."""
    return _AllToAllSingle.apply(group, output.shape, output_split_sizes, input_split_sizes, input)
