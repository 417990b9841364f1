"""GPUs, virtual or real: devices, streams, events, memory, graphs."""

import functools
import threading

from .. import _C
from .._C import OutOfMemoryError
from .._legacy import legacy_types

from . import amp, memory, nvtx
from .graphs import CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing, make_graphed_callables
from .gauges import clock_rate, device_memory_used, list_gpu_processes, memory_usage, power_draw, temperature, utilization
from .memory import (caching_allocator_alloc, caching_allocator_delete, empty_cache, get_allocator_backend, get_per_process_memory_fraction, host_memory_stats,
                     host_memory_stats_as_nested_dict, host_memory_summary,
                     max_memory_allocated, max_memory_cached, max_memory_reserved, mem_get_info, memory_allocated, memory_cached, memory_reserved, memory_snapshot,
                     memory_stats, memory_stats_as_nested_dict, memory_summary, reset_accumulated_host_memory_stats,
                     reset_accumulated_memory_stats, reset_max_memory_allocated,
                     reset_max_memory_cached, reset_peak_host_memory_stats, reset_peak_memory_stats, set_per_process_memory_fraction)
from .sync_debug import get_sync_debug_mode, set_sync_debug_mode

_c = _C.cuda
Stream, Event = _c.Stream, _c.Event
globals().update(legacy_types("tandem.cuda", "cuda"))
has_half = has_magma = True
default_generators = ()


class DeferredCudaCallError(Exception):
    """Never raised: kept for programs that name it."""


def is_available():
    """Whether there is a GPU, virtual or real."""
    return _c.device_count() > 0


def is_initialized():
    """True: there is nothing to be set up first."""
    return True


def init():
    """Nothing: GPUs are set up when they are first used."""


def device_count():
    """How many GPUs this program sees."""
    return _c.device_count()


def current_device():
    """The number of the current GPU."""
    return _c.current_device()


def set_device(device):
    """Makes a GPU the current one of this thread; a negative number changes nothing."""
    if isinstance(device, int) and device < 0:
        return
    _c.set_device(device)


def can_device_access_peer(device, peer_device):
    """Whether one GPU reads another's memory."""
    return _c.can_device_access_peer(device, peer_device)


def synchronize(device=None):
    """Waits until all work of a GPU is done."""
    _c.synchronize(device)


class _CudaDeviceProperties:
    """What a GPU is."""

    def __init__(self, facts):
        self.__dict__.update(facts)
        self.total_memory = facts["total_memory"]
        self.warp_size = 32
        self.is_integrated = self.is_multi_gpu_board = 0
        self.gcnArchName = self.name

    def __repr__(self):
        return (f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, total_memory={self.total_memory // 2**20}MB, "
                f"multi_processor_count={self.multi_processor_count}, uuid={self.uuid})")


def get_device_properties(device=None):
    """Name, memory, processors and so on of a GPU."""
    return _CudaDeviceProperties(_c.device_properties(device))


def get_device_name(device=None):
    """Its name; that of a virtual GPU says so."""
    return _c.device_properties(device)["name"]


def get_device_capability(device=None):
    """Its compute capability, (major, minor); (0, 0) of a virtual GPU."""
    facts = _c.device_properties(device)
    return facts["major"], facts["minor"]


def get_arch_list():
    """The kinds of GPUs that the library has kernels for."""
    return ["sm_75", "sm_80", "sm_90"]


def get_gencode_flags():
    """The same as options of nvcc."""
    return " ".join(f"-gencode compute=compute_{arch[3:]},code={arch}" for arch in get_arch_list())


def is_tf32_supported():
    """Whether the current GPU multiplies in TF32; tandem does not."""
    return is_available() and get_device_capability()[0] >= 8


def is_bf16_supported(including_emulation=True):
    """True."""
    return True


def _index_of(value):
    if value is None:
        return -1
    if isinstance(value, int):
        return value
    made = value if isinstance(value, _C.device) else _C.device(value)
    if made.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {made}")
    return -1 if made.index is None else made.index


class device:
    """with device(1): GPU 1 is the current one in this block."""

    def __init__(self, device):
        self.idx = _index_of(device)
        self.prev_idx = -1

    def __enter__(self):
        if self.idx >= 0:
            self.prev_idx = _c.current_device()
            _c.set_device(self.idx)
        return self

    def __exit__(self, *error):
        if self.idx >= 0:
            _c.set_device(self.prev_idx)
        return False


class device_of(device):
    """with device_of(tensor): the tensor's GPU is the current one; nothing for a tensor of the CPU."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def current_stream(device=None):
    """The stream that work of this thread is queued on."""
    return _c.current_stream(device)


def default_stream(device=None):
    """The stream that every GPU has from the beginning."""
    return _c.default_stream(device)


def set_stream(stream):
    """Queues this thread's work of the stream's GPU there from now on."""
    if stream is not None:
        _c.set_stream(stream)


class StreamContext:
    """with stream(s): work is queued on s, and its GPU is the current one."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is None:
            return
        self._device = _c.current_device()
        self._before = _c.current_stream(self.stream.device)
        _c.set_device(self.stream.device)
        _c.set_stream(self.stream)

    def __exit__(self, *error):
        if self.stream is None:
            return
        _c.set_stream(self._before)
        _c.set_device(self._device)


def stream(stream):
    """A block whose work is queued on the stream."""
    return StreamContext(stream)


_entered = threading.local()  # the contexts of `with stream` blocks, the innermost last


def _enter(self):
    _entered.contexts = [*getattr(_entered, "contexts", ()), StreamContext(self)]
    _entered.contexts[-1].__enter__()
    return self


def _exit(self, *error):
    _entered.contexts.pop().__exit__()


_C._extend(Stream, "__enter__", _enter)
_C._extend(Stream, "__exit__", _exit)
_C._extend(Stream, "device_index", property(lambda self: self.device.index, doc="The number of its GPU."))
_C._extend(Stream, "priority_range", staticmethod(lambda: (0, -1)))


class ExternalStream(Stream):
    """A stream of another library's: not there."""

    def __new__(cls, *args, **kwargs):
        raise NotImplementedError("ExternalStream: tandem's streams are its own")


def manual_seed(seed):
    """Seeds the random numbers of all devices."""
    _C.manual_seed(seed)


manual_seed_all = manual_seed


def seed():
    """Seeds all devices by the system's random numbers."""
    from .._random import seed as seed_all
    seed_all()


seed_all = seed


def initial_seed():
    """The seed."""
    return _C.initial_seed()


def get_rng_state(device="cuda"):
    """Where a GPU's random numbers stand, as a uint8 tensor."""
    return _C._get_rng_state(device)


def get_rng_state_all():
    """The same of all GPUs."""
    return [_C._get_rng_state(i) for i in range(_c.device_count())]


def set_rng_state(new_state, device="cuda"):
    """Goes on from what get_rng_state gave."""
    _C._set_rng_state(new_state, device)


def set_rng_state_all(new_states):
    """The same for all GPUs."""
    for i, state in enumerate(new_states):
        _C._set_rng_state(state, i)


def ipc_collect():
    """Nothing: memory of other processes is let go when its tensors are."""


@functools.lru_cache
def _is_virtual(index):
    return _c.device_properties(index)["is_virtual"]


def is_virtual(device=None):
    """Whether a GPU is a virtual one: a host thread that behaves as a GPU does."""
    index = _index_of(device)
    return _is_virtual(_c.current_device() if index < 0 else index)
