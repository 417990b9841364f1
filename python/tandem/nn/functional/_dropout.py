"""Dropout."""

import warnings

from tandem import _C

_dropout = _C.dropout


def _check(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    """Makes elements zero with probability p and scales the others up, in training."""
    if p < 0.0 or p > 1.0:
        _check(p)
    return _C.dropout_(input, p, training) if inplace and training and p else _dropout(input, p, training)


def _maybe_inplace(input, result, inplace):
    return input.copy_(result) if inplace and result is not input else result


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean and variance after selu."""
    _check(p)
    return _maybe_inplace(input, _C.alpha_dropout(input, p, training), inplace)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels."""
    _check(p)
    return _maybe_inplace(input, _C.feature_alpha_dropout(input, p, training), inplace)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    _check(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to provide channel-wise "
            "dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _maybe_inplace(input, _C.dropout1d(input, p, training), inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, H, W)."""
    _check(p)
    if input.dim() not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated and will result in an error in a future "
            "release. To retain the behavior and silence this warning, please use dropout instead. Note that dropout2d exists to provide "
            "channel-wise dropout on inputs with 2 spatial dimensions, a channel dimension, and an optional batch dimension (i.e. 3D or 4D "
            "inputs).",
            stacklevel=2,
        )
    elif input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
            "interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to interpret the "
            "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch "
            "to using dropout1d instead.",
            stacklevel=2,
        )
    return _maybe_inplace(input, _C.dropout2d(input, p, training), inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, D, H, W)."""
    _check(p)
    if input.dim() not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated and will result in an error in a future "
            "release. To retain the behavior and silence this warning, please use dropout instead. Note that dropout3d exists to provide "
            "channel-wise dropout on inputs with 3 spatial dimensions, a channel dimension, and an optional batch dimension (i.e. 4D or 5D "
            "inputs).",
            stacklevel=2,
        )
    return _maybe_inplace(input, _C.dropout3d(input, p, training), inplace)
