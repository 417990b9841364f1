"""The GPUs by a name that does not say whose they are: torch.accelerator."""

from tandem import _C, cuda
from tandem.cuda import (
    current_stream,
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,  # noqa: F401
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
    set_stream,
    synchronize,
)
from tandem.cuda import current_device as current_device_index
from tandem.cuda import mem_get_info as get_memory_info

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_device_capability",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]

is_available, device_count = cuda.is_available, cuda.device_count
current_device_idx = current_device_index


def current_accelerator(check_available=False):
    """device('cuda'); None where there is no GPU."""
    return _C.device("cuda") if cuda.is_available() else None


def get_device_capability(device=None, /):
    """What a GPU can do: {'supported_dtypes': the dtypes that tensors of it may have}."""
    cuda.get_device_properties(device)  # a GPU that is not there is an error
    dtypes = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
    return {"supported_dtypes": {getattr(_C, name) for name in dtypes}}


def set_device_index(device):
    """Makes a GPU the current one: its number, its name or a device."""
    cuda.set_device(device if isinstance(device, int) else _C.device(device))


set_device_idx = set_device_index


class device_index:
    """with device_index(1): GPU 1 is the current one in this block; None changes nothing."""

    def __init__(self, device):
        self._device = cuda.device(device)

    def __enter__(self):
        self._device.__enter__()

    def __exit__(self, *error):
        self._device.__exit__(*error)
