"""Intel's GPUs, by PyTorch's name: there are none, so that programs that ask take another device."""

__all__ = ["current_device", "device_count", "empty_cache", "is_available", "is_initialized", "manual_seed", "manual_seed_all", "synchronize"]


def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def current_device():
    """RuntimeError: there is none."""
    raise RuntimeError("torch.xpu: tandem has the devices cpu and cuda")


def synchronize(device=None):
    """RuntimeError: there is none."""
    current_device()


def empty_cache():
    """Nothing: there is no memory of such a device."""


def manual_seed(seed):
    """Nothing: there is no generator of such a device."""


manual_seed_all = manual_seed
