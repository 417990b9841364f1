"""torch.version: the version whose names tandem has, and CUDA's where there is a GPU."""

from tandem import version as _own
from tandem.version import debug, git_version, hip, rocm, xpu  # noqa: F401

__version__ = f"2.15.0+tandem.{_own.__version__}"


def __getattr__(name):
    """`cuda`, as tandem.version has it."""
    return getattr(_own, name)
