"""Gradients brought within a norm or a value."""

import warnings
from collections.abc import Iterable

from tandem import _C
from tandem._grad_mode import no_grad


def _as_list(tensors):
    if isinstance(tensors, _C.Tensor):
        return [tensors]
    if not isinstance(tensors, Iterable):
        raise TypeError(f"'{type(tensors).__name__}' object is not iterable")
    return list(tensors)


def _total_norm(tensors, norm_type, error_if_nonfinite):
    norm_type = float(norm_type)
    if not tensors:
        return _C.tensor(0.0)
    norm = _C._linalg["vector_norm"]
    device = tensors[0].device
    total = norm(_C.stack([norm(tensor, norm_type).to(device) for tensor in tensors]), norm_type)
    _check_finite(total, norm_type, error_if_nonfinite)
    return total


def _check_finite(total, norm_type, error_if_nonfinite):
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this "
            "error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all elements of all tensors together."""
    with no_grad():
        return _total_norm(_as_list(tensors), norm_type, error_if_nonfinite)


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients down by max_norm / total_norm where that is below 1."""
    gradients = [p.grad for p in _as_list(parameters) if p.grad is not None]
    if not gradients:
        return
    with no_grad():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        factors = {factor.device: factor}
        for gradient in gradients:
            device = gradient.device
            if device not in factors:
                factors[device] = factor.to(device)
            gradient.mul_(factors[device])


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales the gradients so that their norm together is at most max_norm; returns the norm there was."""
    parameters = _as_list(parameters)
    if any("_unit" in p.__dict__ for p in parameters):  # in shards: all ranks are asked
        from tandem.distributed.fsdp._norms import total_norm

        total = total_norm(parameters, float(norm_type))
        _check_finite(total, norm_type, error_if_nonfinite)
    else:
        with no_grad():
            total = _total_norm([p.grad for p in parameters if p.grad is not None], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The old name of clip_grad_norm_."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.", FutureWarning, stacklevel=2
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Brings every element of the gradients within [-clip_value, clip_value]."""
    clip_value = float(clip_value)
    with no_grad():
        for parameter in _as_list(parameters):
            if parameter.grad is not None:
                parameter.grad.clamp_(min=-clip_value, max=clip_value)
