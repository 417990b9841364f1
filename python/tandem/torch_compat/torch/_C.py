"""The few names of torch._C that programs use."""

from tandem._C import Generator, OutOfMemoryError, Size, Tensor, cuda, device, dtype, is_grad_enabled  # noqa: F401
from tandem._C import LinAlgError as _LinAlgError, _set_grad_enabled  # noqa: F401

TensorBase = _TensorBase = Tensor
_OutOfMemoryError = OutOfMemoryError


def _log_api_usage_once(*names):
    """Nothing: tandem keeps no record of what is used."""


def _get_tracing_state():
    """None: nothing is traced."""
    return None


def _cuda_getDeviceCount():
    """How many GPUs there are."""
    return cuda.device_count()


def _cuda_isInBadFork():
    """False: a GPU that a forked process cannot use says so when it is used."""
    return False
