"""How a tensor lies on the ranks of a mesh, by the names of torch.distributed.tensor. There is no DTensor: a rank holds its part as a plain tensor."""

from dataclasses import dataclass

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """How a tensor lies on the ranks of one dimension of a mesh."""

    def is_shard(self, dim=None):
        """Whether it is in parts along a dimension, or along this one."""
        return isinstance(self, Shard) and (dim is None or self.dim == dim)

    def is_replicate(self):
        """Whether each rank has it whole."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op=None):
        """Whether each rank has a summand of it."""
        return isinstance(self, Partial) and (reduce_op is None or self.reduce_op == reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """In equal parts along a dimension, one for each rank."""

    dim: int

    def __str__(self):
        return f"S({self.dim})"


@dataclass(frozen=True)
class Replicate(Placement):
    """Whole on each rank."""

    def __str__(self):
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """Each rank has a summand."""

    reduce_op: str = "sum"

    def __str__(self):
        return f"P({self.reduce_op})"
