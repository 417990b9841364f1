"""Memory of GPUs: figures, the summary, snapshots and the history of allocations."""

import collections

from .. import _C

_c, _seeing = _C.cuda, _C.seeing
_fractions = {}


def memory_allocated(device=None):
    """Bytes that tensors hold."""
    return _c.memory_allocated(device)


def max_memory_allocated(device=None):
    """The most that they have held."""
    return _c.max_memory_allocated(device)


def memory_reserved(device=None):
    """Bytes that the caching allocator holds."""
    return _c.memory_reserved(device)


def max_memory_reserved(device=None):
    """The most that it has held."""
    return _c.max_memory_reserved(device)


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def reset_peak_memory_stats(device=None):
    """The peaks begin anew."""
    _c.reset_peak_memory_stats(device)


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device=None):
    """The sums of what was allocated and freed begin anew."""
    _c.reset_accumulated_memory_stats(device)


def memory_stats(device=None):
    """All figures by PyTorch's names: 'allocated_bytes.all.current' and so on."""
    return dict(sorted(_c.memory_stats(device).items()))


def memory_stats_as_nested_dict(device=None):
    """The same as dicts in dicts: figures['allocated_bytes']['all']['current']."""
    figures = {}
    for name, value in memory_stats(device).items():
        *way, last = name.split(".")
        place = figures
        for part in way:
            place = place.setdefault(part, {})
        place[last] = value
    return figures


def memory_summary(device=None, abbreviated=False):
    """The figures as a table."""
    return _c.memory_summary(device)


def memory_snapshot(mempool_id=None):
    """Segments and blocks of all GPUs."""
    return [segment for i in range(_c.device_count()) for segment in _c.memory_snapshot(i)]


def mem_get_info(device=None):
    """(free, total) bytes of a GPU."""
    return _c.mem_get_info(device)


def empty_cache():
    """Gives memory that no tensor holds back to the GPU."""
    _c.empty_cache()


def set_per_process_memory_fraction(fraction, device=None):
    """What share of a GPU's memory this process may take."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _c.set_per_process_memory_fraction(fraction, device)
    _fractions[str(device)] = fraction


def get_per_process_memory_fraction(device=None):
    """That share."""
    return _fractions.get(str(device), 1.0)


_allocations = {}  # address -> the tensor that has the memory, of caching_allocator_alloc


def caching_allocator_alloc(size, device=None, stream=None):
    """The address of `size` bytes of a GPU's memory, which are kept until caching_allocator_delete. Used on `stream`, or the current one."""
    from . import stream as on_stream
    index = _c.current_device() if device is None else device
    before = _c.current_stream(index)
    with on_stream(before if stream is None or isinstance(stream, int) else stream):
        tensor = _C.empty(max(int(size), 1), dtype=_C.uint8, device=index)
    _allocations[tensor.data_ptr()] = tensor
    return tensor.data_ptr()


def caching_allocator_delete(mem_ptr):
    """Lets go of what caching_allocator_alloc gave."""
    if _allocations.pop(mem_ptr, None) is None:
        raise RuntimeError(f"invalid device pointer: {mem_ptr}: caching_allocator_alloc gave no such address, or it was deleted")


def get_allocator_backend():
    """'native': the allocator is the library's own."""
    return "native"


def host_memory_stats():
    """Empty: no figures of page-locked memory are kept. host_memory_summary tells what is kept of the host's memory."""
    return collections.OrderedDict()


def host_memory_stats_as_nested_dict():
    """Empty, as host_memory_stats."""
    return {}


def reset_peak_host_memory_stats():
    """Nothing: there are no figures."""


reset_accumulated_host_memory_stats = reset_peak_host_memory_stats


def host_memory_summary():
    """What the library keeps of the host's memory."""
    return _seeing.host_memory_summary()


def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=1_000_000, device=None):
    """Records allocations from now on, with the lines that asked for them; enabled=None ends it."""
    _seeing.record_history(enabled is not None, min(max_entries, 2**40))


record_memory_history = _record_memory_history


def _dump_snapshot(filename="dump_snapshot.pickle"):
    """Writes segments and history as PyTorch's memory viewer reads them."""
    _seeing.dump_snapshot(str(filename))


dump_snapshot = _dump_snapshot


def _snapshot(device=None):
    """The same as a dict: 'segments' with their blocks, and 'device_traces', a list of events for each GPU."""
    import os
    import pickle
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "snapshot.pickle")
        _dump_snapshot(path)
        with open(path, "rb") as file:
            return pickle.load(file)


class History:
    """What history() gives: memory as it is, and over time where it is recorded; in a notebook the page of write_page()."""

    def __init__(self, page, lines):
        self._page, self._lines = page, lines

    def __repr__(self):
        return self._lines

    def _repr_html_(self):
        page = self._page.replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" title="GPU memory" style="width:100%;height:640px;border:0"></iframe>'


def history():
    """Memory of all GPUs, to look at in a notebook; over time where record_memory_history() has been called."""
    import os
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "memory.html")
        write_page(path)
        with open(path, encoding="utf-8") as file:
            page = file.read()
    lines = []
    for i in range(_c.device_count()):
        held, most, reserved = memory_allocated(i), max_memory_allocated(i), memory_reserved(i)
        lines.append(f"cuda:{i}: {held:,} bytes allocated, {most:,} at most, {reserved:,} reserved")
    return History(page, "\n".join(lines))


def write_page(filename):
    """Writes memory over time as a page of HTML."""
    _seeing.write_memory_page(str(filename))
