"""torch.nn.attention: which kernel scaled_dot_product_attention should take. tandem has one for each device, so a choice is accepted and changes nothing."""

import contextlib
import enum

__all__ = ["SDPBackend", "sdpa_kernel", "WARN_FOR_UNFUSED_KERNELS"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels of attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Accepts the kernels that may be taken in this block, one or a list."""
    chosen = backends if isinstance(backends, (list, tuple)) else [backends]
    if not all(isinstance(backend, SDPBackend) for backend in chosen):
        raise AssertionError(f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {type(backends).__name__}")
    yield
