"""torch.functional: functions of tensors, by their old place."""

from tandem import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    cdist,
    chain_matmul,
    einsum,  # noqa: F401
    meshgrid,
    norm,
    split,
    tensordot,
    unique,
    unique_consecutive,
)
