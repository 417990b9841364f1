"""The ranks that share a run: one alone unless a launcher started the program, or a process group is there."""

import os

import tandem
from tandem import distributed
from tandem.distributed.meeting import _STARTED_BY_MPI


def _is_launched():
    return int(os.environ.get("WORLD_SIZE", "1")) > 1 or any(variable in os.environ for variable in _STARTED_BY_MPI)


class Ranks:
    """This rank's part of a run. Joins the ranks that a launcher started; they stay together until the program ends."""

    def __init__(self, num_nodes=1):
        if not distributed.is_initialized() and _is_launched():
            distributed.init_process_group()
        together = distributed.is_initialized()
        self.rank = distributed.get_rank() if together else 0
        self.size = distributed.get_world_size() if together else 1
        self.local_rank = distributed.get_node_local_rank(self.rank) if together else 0
        if self.size < num_nodes:
            raise RuntimeError(
                f"[Trainer.fit] num_nodes is {num_nodes}, but this program has {self.size} rank{'s' if self.size > 1 else ''}: "
                "start it on every server, by `tandem launch --hosts FILE` or mpirun"
            )

    @property
    def several(self):
        """Whether there are others."""
        return self.size > 1

    def all_of(self, value):
        """The values of all ranks, in order."""
        if not self.several:
            return [value]
        values = [None] * self.size
        distributed.all_gather_object(values, value)
        return values

    def any(self, mine):
        """Whether any rank says yes."""
        if not self.several:
            return bool(mine)
        votes = tandem.tensor([int(bool(mine))])
        distributed.all_reduce(votes)
        return votes.item() > 0

    def first(self, value):
        """Rank 0's value."""
        if not self.several:
            return value
        values = [value]
        distributed.broadcast_object_list(values, src=0)
        return values[0]

    def wait_for_all(self):
        """Returns when all ranks have called it."""
        if self.several:
            distributed.barrier()
