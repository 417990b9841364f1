"""rearrange: dimensions by names, as einops has them."""

import math
import re

from tandem import _C


def _groups(side, pattern):
    """The dimensions of one side of a pattern: for each the names that it is made of; "..." stands for any number of dimensions."""
    groups, inside = [], None
    for token in re.findall(r"\(|\)|\.\.\.|\w+|\S", side):
        if token == "(" and inside is None:
            inside = []
        elif token == ")" and inside is not None:
            groups.append(inside)
            inside = None
        elif token == "..." or token == "1" or token.isidentifier():
            one = [] if token == "1" else [token]
            if inside is None:
                groups.append(token if token == "..." else one)
            else:
                inside += one
        else:
            raise ValueError(f"rearrange: {token!r} cannot stand in the pattern '{pattern}'")
    names = [name for group in groups for name in ([group] if group == "..." else group)]
    if inside is not None or len(set(names)) != len(names):
        raise ValueError(f"rearrange: the pattern '{pattern}' has a bracket that is not closed, or a name twice on one side")
    return groups


def _sizes(group, size, lengths, pattern):
    """The sizes of the names that one dimension is made of; at most one is not given."""
    known = [lengths.get(name) for name in group]
    product = math.prod(one for one in known if one is not None)
    if known.count(None) > 1 or product == 0 or size % product or (None not in known and product != size):
        raise ValueError(f"rearrange: a dimension of size {size} cannot be ({' '.join(group)}) with {lengths} in the pattern '{pattern}'")
    return [size // product if one is None else one for one in known]


def rearrange(tensor, pattern, **axes_lengths):
    """The tensor with its dimensions named, split, moved and joined: rearrange(x, "b (h w) c -> b c h w", h=4).

    A list of tensors is stacked first. axes_lengths: sizes of names that split a dimension, of all of them but one.
    """
    tensor = tensor if isinstance(tensor, _C.Tensor) else _C.stack(list(tensor))
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError(f"rearrange: a pattern has one '->', got '{pattern}'")
    left, right = (_groups(side, pattern) for side in sides)
    wide = "..." in left
    spread = tensor.dim() - len(left) + wide
    if spread < 0 or (spread and not wide):
        raise ValueError(f"rearrange: a tensor with {tensor.dim()} dimensions does not fit the pattern '{pattern}'")
    rest = [f"...{i}" for i in range(spread)] if wide else []

    def opened(groups):
        made = []
        for group in groups:
            made += [[name] for name in rest] if group == "..." else [[one for name in group for one in (rest if name == "..." else [name])]]
        return made

    left, right = opened(left), opened(right)
    names, sizes = [], []
    for group, size in zip(left, tensor.shape):
        names += group
        sizes += _sizes(group, size, axes_lengths, pattern)
    wanted = [name for group in right for name in group]
    if sorted(wanted) != sorted(names) or not axes_lengths.keys() <= set(names):
        raise ValueError(f"rearrange: both sides of the pattern '{pattern}', and the sizes that are given, have to have the same names")
    of = dict(zip(names, sizes))
    moved = tensor.reshape(sizes).permute([names.index(name) for name in wanted])
    return moved.reshape([math.prod(of[name] for name in group) for group in right])
