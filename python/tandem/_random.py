"""The states of the devices' own random numbers."""

import contextlib
import os

from . import _C


def initial_seed():
    """The seed of the CPU's random numbers: that of manual_seed, the default generator's too."""
    return _C.default_generator.initial_seed()


def seed():
    """Seeds all devices by the system's random numbers, and gives the seed."""
    value = int.from_bytes(os.urandom(8), "little") & 0x1FFFFFFFFFFFFF
    _C.manual_seed(value)
    return value


def get_rng_state():
    """Where the CPU's random numbers stand, as a uint8 tensor."""
    return _C._get_rng_state(None)


def set_rng_state(new_state):
    """Goes on from what get_rng_state gave."""
    _C._set_rng_state(new_state, None)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, device_type="cuda"):
    """Random numbers drawn in this block leave those after it as they would have been."""
    if not enabled:
        yield
        return
    gpus = list(range(_C.cuda.device_count())) if devices is None else list(devices)
    cpu, states = _C._get_rng_state(None), [_C._get_rng_state(gpu) for gpu in gpus]
    try:
        yield
    finally:
        _C._set_rng_state(cpu, None)
        for gpu, state in zip(gpus, states):
            _C._set_rng_state(state, gpu)
