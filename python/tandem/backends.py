"""Switches by PyTorch's names: torch.backends."""

import contextlib
import sys
import types

from . import _C


class _Cudnn(types.SimpleNamespace):
    """torch.backends.cudnn."""

    def is_available(self):
        """Whether there is a GPU that cuDNN could serve."""
        return _C.cuda.device_count() > 0 and not _C.cuda.device_properties(0)["is_virtual"]

    def version(self):
        """None: it is not known before it is loaded."""
        return None

    @contextlib.contextmanager
    def flags(self, enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
        """The switches in a block."""
        before = dict(self.__dict__)
        self.__dict__.update(enabled=enabled, benchmark=benchmark, deterministic=deterministic, allow_tf32=allow_tf32)
        try:
            yield
        finally:
            self.__dict__.update(before)


cudnn = _Cudnn(enabled=True, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True)
cuda = types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True), is_built=lambda: True,
                             flash_sdp_enabled=lambda: True, enable_flash_sdp=lambda enabled: None, enable_math_sdp=lambda enabled: None,
                             enable_mem_efficient_sdp=lambda enabled: None)
mps = types.SimpleNamespace(is_available=lambda: False, is_built=lambda: False)
mkldnn = types.SimpleNamespace(is_available=lambda: True, enabled=True)
mkl = types.SimpleNamespace(is_available=lambda: False)
openmp = types.SimpleNamespace(is_available=lambda: False)
cpu = types.SimpleNamespace(get_cpu_capability=lambda: "DEFAULT")

# import tandem.backends.cudnn finds the object.
__path__ = []
sys.modules.update({f"{__name__}.{name}": globals()[name] for name in ("cudnn", "cuda", "mps", "mkldnn", "mkl", "openmp", "cpu")})
