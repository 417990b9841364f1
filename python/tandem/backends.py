"""Switches by PyTorch's names: torch.backends."""

import contextlib
import sys
import types

from . import _C


def _switch(name):
    """An attribute that is a switch of the library's."""
    return property(lambda self: _C._backend(name), lambda self, value: _C._backend(name, value), doc=f"The switch {name}.")


class _Matmul:
    """torch.backends.cuda.matmul."""

    allow_tf32 = _switch("cuda.matmul.allow_tf32")
    allow_fp16_reduced_precision_reduction = allow_bf16_reduced_precision_reduction = True


class _Cudnn:
    """torch.backends.cudnn."""

    enabled = _switch("cudnn.enabled")
    benchmark = _switch("cudnn.benchmark")
    deterministic = _switch("cudnn.deterministic")
    allow_tf32 = _switch("cudnn.allow_tf32")
    benchmark_limit = 10

    def is_available(self):
        """Whether there is a GPU that cuDNN could serve."""
        return _C.cuda.device_count() > 0 and not _C.cuda.device_properties(0)["is_virtual"]

    def version(self):
        """None: it is not known before it is loaded."""
        return None

    @contextlib.contextmanager
    def flags(self, enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
        """The switches in a block."""
        names = ("enabled", "benchmark", "deterministic", "allow_tf32")
        before = [getattr(self, name) for name in names]
        for name, value in zip(names, (enabled, benchmark, deterministic, allow_tf32)):
            setattr(self, name, value)
        try:
            yield
        finally:
            for name, value in zip(names, before):
                setattr(self, name, value)


@contextlib.contextmanager
def _sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """Accepted: there is one kernel of scaled_dot_product_attention for each device."""
    yield


cudnn = _Cudnn()
cuda = types.SimpleNamespace(matmul=_Matmul(), is_built=lambda: True,
                             flash_sdp_enabled=lambda: True, enable_flash_sdp=lambda enabled: None, enable_math_sdp=lambda enabled: None,
                             enable_mem_efficient_sdp=lambda enabled: None, math_sdp_enabled=lambda: True,
                             mem_efficient_sdp_enabled=lambda: True, cudnn_sdp_enabled=lambda: True,
                             enable_cudnn_sdp=lambda enabled: None, sdp_kernel=_sdp_kernel)
mps = types.SimpleNamespace(is_available=lambda: False, is_built=lambda: False)
mkldnn = types.SimpleNamespace(is_available=lambda: True, enabled=True)
mkl = types.SimpleNamespace(is_available=lambda: False)
openmp = types.SimpleNamespace(is_available=lambda: False)
cpu = types.SimpleNamespace(get_cpu_capability=lambda: "DEFAULT")

# import tandem.backends.cudnn finds the object.
__path__ = []
sys.modules.update({f"{__name__}.{name}": globals()[name] for name in ("cudnn", "cuda", "mps", "mkldnn", "mkl", "openmp", "cpu")})
