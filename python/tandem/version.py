"""tandem.version: tandem's own version, and CUDA's where there is a GPU."""

from . import _C

__version__ = _C.version
debug = False
git_version = "unknown"
hip = xpu = rocm = None


def __getattr__(name):
    """`cuda`: the release whose calls tandem makes, None without a GPU. Looked up late: it looks for the machine's GPUs."""
    if name == "cuda":
        return "12.0" if _C.cuda.device_count() else None
    raise AttributeError(f"module 'torch.version' has no attribute '{name}'")
