"""tandem: tensors, automatic differentiation and training, by PyTorch's names; on CPUs, on GPUs, and on virtual GPUs where there are none."""

import builtins as _builtins
import os as _os
from math import e, inf, nan, pi

try:
    from . import _C
except ImportError as _error:
    from ._missing import explained
    raise explained(_error) from None

_C._package_folder(_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)

from . import _cells  # noqa: E402

_C._cell_namer(_cells.name_of)

from ._C import (Generator, Node, OutOfMemoryError, Size, Tensor, can_cast, default_generator, device, dtype, get_default_device, get_default_dtype, get_num_threads,  # noqa: E402
                 is_grad_enabled, is_inference_mode_enabled, manual_seed, promote_types, set_default_device, set_num_threads)

bool, uint8, int8, int16, int32, int64 = _C.bool, _C.uint8, _C.int8, _C.int16, _C.int32, _C.int64
float16, bfloat16, float32, float64 = _C.float16, _C.bfloat16, _C.float32, _C.float64
complex32, complex64, complex128, uint16, uint32, uint64 = _C.complex32, _C.complex64, _C.complex128, _C.uint16, _C.uint32, _C.uint64  # no tensor has these
float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz = _C.float8_e4m3fn, _C.float8_e4m3fnuz, _C.float8_e5m2, _C.float8_e5m2fnuz
float8_e8m0fnu = _C.float8_e8m0fnu
chalf, cfloat, cdouble = complex32, complex64, complex128
short, int, long, half, float, double = int16, int32, int64, float16, float32, float64

newaxis = None
from ._formats import channels_last, channels_last_3d, contiguous_format, layout, memory_format, preserve_format, strided  # noqa: E402

# Every operation, by its name.
_taken = set(globals())
for _name in dir(_C):
    if not _name.startswith("_") and _name not in _taken and _builtins.callable(getattr(_C, _name)):
        globals()[_name] = getattr(_C, _name)
del _taken, _name

from . import _tensor  # noqa: E402  gives Tensor what is written in Python
from ._functions import *  # noqa: E402,F403
from ._functions import _assert  # noqa: E402,F401
from ._composed import *  # noqa: E402,F403
from ._more import *  # noqa: E402,F403
from ._named_special import i0, i0_, igamma, igammac  # noqa: E402
from ._statistics import corrcoef, cov, cumulative_trapezoid, gradient, vander  # noqa: E402
from ._windows import bartlett_window, blackman_window, hamming_window, hann_window, kaiser_window  # noqa: E402
from ._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: E402
from .autograd import is_anomaly_check_nan_enabled, is_anomaly_enabled  # noqa: E402
from ._random import fork_rng, get_rng_state, initial_seed, seed, set_rng_state  # noqa: E402
from ._settings import (are_deterministic_algorithms_enabled, finfo, get_deterministic_debug_mode, get_float32_matmul_precision, get_num_interop_threads, iinfo,  # noqa: E402
                        is_deterministic_algorithms_warn_only_enabled, is_warn_always_enabled, set_default_dtype, set_default_tensor_type,
                        set_deterministic_debug_mode, set_float32_matmul_precision, set_num_interop_threads, set_printoptions, set_warn_always,
                        use_deterministic_algorithms)
from ._legacy import (BFloat16Tensor, BoolTensor, ByteTensor, CharTensor, DoubleTensor, FloatTensor, HalfTensor, IntTensor, LongTensor, ShortTensor)  # noqa: E402
from .serialization import load, save  # noqa: E402
from .storage import TypedStorage, UntypedStorage  # noqa: E402
from ._streams import AcceleratorError, Event, Stream  # noqa: E402
from .futures import Future, fork, wait  # noqa: E402
from ._mapped import from_file  # noqa: E402
from . import autograd, backends, cuda, ledger, linalg, nn, optim, profiler, races, random, utils, amp  # noqa: E402
from ._bits import frexp, nextafter  # noqa: E402
from ._compile import compile  # noqa: E402
from .amp import GradScaler, autocast, get_autocast_dtype, is_autocast_enabled  # noqa: E402
from .smi import smi  # noqa: E402
from ._virtual import virtual_gpus  # noqa: E402

__version__ = _C.version


def _dtype_by_name(name):
    """What a pickled dtype is read by."""
    return getattr(_C, name)


def __getattr__(name):
    """The parts that are imported when they are first asked for, and a clear word about what PyTorch has and tandem does not."""
    import importlib
    if name in ("accelerator", "array_api", "compiler", "distributed", "distributions", "func", "functional", "multiprocessing", "onnx", "torch_compat", "train", "types",
                "fx", "hub", "jit", "library", "mps", "ops", "overrides", "special", "xpu", "cpu", "fft", "quasirandom", "signal", "testing", "version"):
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    if name.startswith("_foreach_"):
        from ._foreach import FUNCTIONS
        if name in FUNCTIONS:
            return FUNCTIONS[name]
    raise AttributeError(f"module 'tandem' has no attribute '{name}'")
