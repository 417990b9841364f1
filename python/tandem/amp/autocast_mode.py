"""autocast: scopes and functions in which operations choose the dtype that they compute in."""
import functools
import warnings

import tandem
from tandem import _C

_KINDS = ("cpu", "cuda")


def is_autocast_available(device_type):
    """Whether autocast knows this kind of device."""
    return _C.device(device_type).type in _KINDS


def is_autocast_enabled(device_type="cuda"):
    """Whether operations on that kind of device are in a scope of autocast now."""
    return _C._autocast_enabled(device_type)


def get_autocast_dtype(device_type):
    """What autocast computes in on that kind of device where no dtype is given."""
    return _C._autocast_dtype(device_type)


class autocast:
    """In this scope, products and convolutions compute in `dtype`, losses and others in float32. A context manager and a decorator.

    `device_type` is "cpu" or "cuda"; `dtype` bfloat16 or float16, by default bfloat16 on the CPU and float16 on GPUs. `enabled=False` is
    a scope without autocast. `cache_enabled` says whether casts of parameters are kept until the outermost scope ends.
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if enabled and self.fast_dtype not in (_C.bfloat16, _C.float16):
            name = device_type.upper()
            warnings.warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        if enabled and device_type == "cuda" and not tandem.cuda.is_available():
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            enabled = False
        self._enabled = enabled
        self._cache_enabled = cache_enabled
        self._tokens = []  # a scope may be entered again while it is open

    def __enter__(self):
        self._tokens.append(_C._autocast_enter(self.device, self.fast_dtype, self._enabled, self._cache_enabled))
        return self

    def __exit__(self, *exception):
        _C._autocast_exit(self._tokens.pop())
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def within(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return within


def _cast(value, device_type, dtype):
    """`value` with the floating tensors of that kind of device in it, but for float64, as `dtype`."""
    if isinstance(value, _C.Tensor):
        fits = value.is_floating_point() and value.device.type == device_type and value.dtype != _C.float64
        return value.to(dtype) if fits else value
    if isinstance(value, dict):
        return {_cast(key, device_type, dtype): _cast(one, device_type, dtype) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(one, device_type, dtype) for one in value)
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """For the forward of an autograd.Function. With `cast_inputs` it gets its inputs in that dtype and runs without autocast."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx, *args, **kwargs):
        ctx._dtype = get_autocast_dtype(device_type)
        enabled = is_autocast_enabled(device_type)
        if cast_inputs is None:
            ctx._fwd_used_autocast = enabled
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        if not enabled:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(bwd=None, *, device_type):
    """For the backward of an autograd.Function whose forward has `custom_fwd`: the same autocast."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx, *args, **kwargs):
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return decorated
