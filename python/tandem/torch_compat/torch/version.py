"""torch.version: the version whose names tandem has, and CUDA's where there is a GPU."""

from tandem import _C

__version__ = f"2.15.0+tandem.{_C.version}"
debug = False
git_version = "unknown"
hip = xpu = rocm = None


def __getattr__(name):
    """`cuda`: the release whose calls tandem makes, None without a GPU. Looked up late: it looks for the machine's GPUs."""
    if name == "cuda":
        return "12.0" if _C.cuda.device_count() else None
    raise AttributeError(f"module 'torch.version' has no attribute '{name}'")
