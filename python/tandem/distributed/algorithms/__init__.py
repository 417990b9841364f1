"""Part of the names of torch.distributed.algorithms."""

from tandem.distributed.algorithms.join import Join, Joinable, JoinHook  # noqa: F401
