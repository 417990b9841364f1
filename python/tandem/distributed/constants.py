"""torch.distributed.constants: how long a collective waits for the others, unless it is told."""

from tandem.distributed.groups import default_pg_timeout

__all__ = ["default_pg_timeout"]
