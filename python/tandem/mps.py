"""Apple's GPUs, by PyTorch's name: there are none, so that programs that ask take another device."""

__all__ = ["current_allocated_memory", "device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]


def is_available():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def current_allocated_memory():
    """0."""
    return 0


def synchronize():
    """RuntimeError: there is none."""
    raise RuntimeError("torch.mps: tandem has the devices cpu and cuda")


def empty_cache():
    """Nothing: there is no memory of such a device."""


def manual_seed(seed):
    """Nothing: there is no generator of such a device."""
