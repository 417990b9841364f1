"""What of a GPU nvidia-smi shows: how busy it is, who uses it; sensors, of which tandem reads none."""

import os

from .. import _C

_c = _C.cuda


def utilization(device=None):
    """Percent of the time that it computed; 0 where it has no such gauge."""
    return 0


def memory_usage(device=None):
    """Percent of the time that its memory was read or written; 0, as utilization."""
    return 0


def device_memory_used(device=None):
    """The bytes of its memory that are in use, by anybody."""
    free, total = _c.mem_get_info(device)
    return total - free


def list_gpu_processes(device=None):
    """The memory that this process holds of a GPU, as text. Others' are in tandem.smi(all=True), where they are tandem's."""
    if device is None:
        index = _c.current_device()
    else:
        index = device if isinstance(device, int) else _C.device(device).index or 0
    held = _c.memory_reserved(index)
    line = f"process {os.getpid():>10d} uses {held / 2**20:>12.3f} MB GPU memory" if held else "no processes are running"
    return f"GPU:{index}\n{line}"


def _no_sensor(what):
    def gauge(device=None):
        raise ModuleNotFoundError(
            f"nvidia-ml-py does not seem to be installed or it can't be imported: {what} is a sensor's, which tandem does not read and a "
            "virtual GPU does not have; nvidia-smi shows those of a real one"
        )

    gauge.__name__ = gauge.__qualname__ = what
    gauge.__doc__ = "ModuleNotFoundError: no sensor is read."
    return gauge


temperature, power_draw, clock_rate = _no_sensor("temperature"), _no_sensor("power_draw"), _no_sensor("clock_rate")
