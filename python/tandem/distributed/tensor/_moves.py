"""From one placement on the ranks of a group to another, as differentiable functions."""

from tandem import _C
from tandem import distributed as dist
from tandem.autograd import Function
from tandem.distributed.tensor import Partial, Replicate, Shard


def _ranks(group):
    return dist.get_world_size(group), dist.get_rank(group)


def part_of(tensor, dim, group):
    """This rank's part along a dimension. ValueError where it does not divide evenly."""
    count, rank = _ranks(group)
    size = tensor.size(dim)
    if size % count:
        raise ValueError(f"Shard({dim}): a dimension of size {size} has no equal parts for {count} ranks")
    return tensor.narrow(dim % tensor.dim(), rank * (size // count), size // count).contiguous()


def whole(tensor, dim, group):
    """All ranks' parts, joined along a dimension."""
    parts = [_C.empty_like(tensor, requires_grad=False) for _ in range(_ranks(group)[0])]
    dist.all_gather(parts, tensor.detach().contiguous(), group)
    return _C.cat(parts, dim)


def summed(tensor, group):
    """The sum of all ranks' tensors."""
    made = tensor.detach().contiguous().clone()
    dist.all_reduce(made, group=group)
    return made


def summed_part(tensor, dim, group):
    """This rank's part of the sum of all ranks' tensors."""
    parts = [one.contiguous() for one in tensor.detach().chunk(_ranks(group)[0], dim)]
    part_of(tensor, dim, group)  # refuses what does not divide
    made = _C.empty_like(parts[0])
    dist.reduce_scatter(made, parts, group=group)
    return made


def _moving(name, forward, backward):
    """A function of a tensor, a dimension and a group whose gradient goes the other way."""

    class Moving(Function):
        @staticmethod
        def forward(ctx, tensor, dim, group):
            ctx.dim, ctx.group = dim, group
            return forward(tensor, dim, group)

        @staticmethod
        def backward(ctx, grad):
            return backward(grad, ctx.dim, ctx.group), None, None

    Moving.__name__ = name
    return Moving.apply


def _same(tensor, dim, group):
    return tensor.view_as(tensor)


def _sum(tensor, dim, group):
    return summed(tensor, group)


# A tensor that all ranks have, for work that each does a part of: the gradients add up.
copied = _moving("Copied", _same, _sum)
reduced = _moving("Reduced", _sum, _same)
gathered = _moving("Gathered", whole, part_of)
gathered_for_parts = _moving("GatheredForParts", whole, summed_part)
split = _moving("Split", part_of, whole)
reduced_and_split = _moving("ReducedAndSplit", summed_part, whole)


def moved(tensor, before, after, group):
    """A tensor with another placement."""
    if before == after:
        return tensor
    if isinstance(before, Shard) and isinstance(after, Replicate):
        return gathered(tensor, before.dim, group)
    if isinstance(before, Replicate) and isinstance(after, Shard):
        return split(tensor, after.dim, group)
    if isinstance(before, Partial) and isinstance(after, Replicate):
        return reduced(tensor, 0, group)
    if isinstance(before, Partial) and isinstance(after, Shard):
        return reduced_and_split(tensor, after.dim, group)
    if isinstance(before, Shard) and isinstance(after, Shard):
        return split(gathered(tensor, before.dim, group), after.dim, group)
    raise NotImplementedError(f"from {before!r} to {after!r}")
