"""Copies and sums of tensors between the devices of this process. Nothing is recorded for gradients. As torch.nn.parallel.comm."""

import warnings

from tandem import _C
from tandem._grad_mode import no_grad

_c = _C._parallel


def device_of(device):
    """A device: a GPU's number, -1 for the CPU, or what names a device."""
    if device is None:
        return _C.device("cuda", _C.cuda.current_device())
    if isinstance(device, int):
        return _C.device("cpu") if device == -1 else _C.device("cuda", device)
    made = device if isinstance(device, _C.device) else _C.device(device)
    return _C.device("cuda", _C.cuda.current_device()) if made.type == "cuda" and made.index is None else made


def devices_of(devices):
    """All GPUs where none are given."""
    return [device_of(device) for device in (range(_C.cuda.device_count()) if devices is None else devices)]


def _check_one(devices, out):
    if (devices is None) == (out is None):
        raise RuntimeError(f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and out={out}")


@no_grad()
def broadcast(tensor, devices=None, *, out=None):
    """A copy of the tensor on each device, or in each tensor of `out`."""
    _check_one(devices, out)
    if out is not None:
        for target in out:
            target.copy_(tensor)
        return tuple(out)
    return tuple(copies[0] for copies in _c.broadcast_coalesced([tensor], devices_of(devices)))


@no_grad()
def broadcast_coalesced(tensors, devices, buffer_size=10485760):
    """Copies of all tensors on each device: a tuple for each device. Small tensors travel together."""
    return _c.broadcast_coalesced(tensors, devices_of(devices))


@no_grad()
def reduce_add(inputs, destination=None):
    """The sum of tensors of one size that are on different GPUs, on `destination`; the current GPU unless given."""
    for i, tensor in enumerate(inputs):
        if tensor.is_cpu:
            raise AssertionError("reduce_add expects all inputs to be on GPUs")
        if tensor.shape != inputs[0].shape:
            got, expected = "x".join(map(str, tensor.shape)), "x".join(map(str, inputs[0].shape))
            raise ValueError(f"input {i} has invalid size: got {got}, but expected {expected}")
    return _c.reduce_add(inputs, device_of(destination))


def reduce_add_coalesced(inputs, destination=None, buffer_size=10485760):
    """inputs[device][i] added up over the devices, for each i."""
    return tuple(reduce_add(tensors, destination) for tensors in zip(*inputs))


@no_grad()
def scatter(tensor, devices=None, chunk_sizes=None, dim=0, streams=None, *, out=None):
    """Chunks of the tensor along `dim`, the i-th on device i, or in out[i]. Equal ones unless `chunk_sizes` are given."""
    if out is not None:
        if devices is not None:
            raise RuntimeError(f"'devices' must not be specified when 'out' is specified, but got devices={devices}")
        for target, part in zip(out, _C.split(tensor, [target.size(dim) for target in out], dim)):
            target.copy_(part)
        return tuple(out)
    devices = devices_of(devices)
    if chunk_sizes is None:
        return _c.scatter(tensor, devices, dim)
    return tuple(part.to(device) for part, device in zip(_C.split(tensor, list(chunk_sizes), dim), devices))


@no_grad()
def gather(tensors, dim=0, destination=None, *, out=None):
    """The tensors joined along `dim` on `destination`, the current GPU unless given, or in `out`."""
    if out is not None:
        if destination is not None:
            raise RuntimeError(f"'destination' must not be specified when 'out' is specified, but got destination={destination}")
        return out.copy_(_c.gather(tensors, out.device, dim))
    if destination == -1:
        warnings.warn(
            'Using -1 to represent CPU tensor is deprecated. Please use a device object or string instead, e.g., "cpu".',
            FutureWarning,
            stacklevel=2,
        )
    return _c.gather(tensors, device_of(destination), dim)
