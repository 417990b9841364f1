"""Copies of a module, one on each device, whose gradients come back to the original."""

from tandem import _C
from tandem.nn.parallel.comm import device_of

_c = _C._parallel


def _copies(tensors, devices, detach):
    """For each device, copies of the tensors by the originals' identity."""
    if not tensors:
        return [{} for _ in devices]
    given = [tensor.detach() for tensor in tensors] if detach else tensors
    copies = [list(on_device) for on_device in _c.broadcast_coalesced(given, devices)]
    for on_device in copies:
        for i, tensor in enumerate(tensors):
            if on_device[i] is given[i]:
                on_device[i] = tensor  # on its own device: running figures stay in the original
    return [{id(tensor): copy for tensor, copy in zip(tensors, on_device)} for on_device in copies]


def _unique(tensors):
    return list({id(tensor): tensor for tensor in tensors}.values())


def _replicate_one(modules, parameters, buffers):
    """A replica of each module, linked as the originals are."""
    replicas = {id(module): module._replicate_for_data_parallel() for module in modules}
    for module in modules:
        replica = replicas[id(module)]
        replica._former_parameters = {}
        for name, child in module._modules.items():
            replica._modules[name] = replica.__dict__[name] = None if child is None else replicas[id(child)]
        for name, parameter in module._parameters.items():
            copy = None if parameter is None else parameters[id(parameter)]
            replica.__dict__[name] = replica._former_parameters[name] = copy
        for name, buffer in module._buffers.items():
            replica._buffers[name] = replica.__dict__[name] = None if buffer is None else buffers[id(buffer)]
    return replicas[id(modules[0])]


def replicate(network, devices, detach=False):
    """A copy of the module for each device. What backward finds for a copy's parameter is added to the original's `.grad`.

    On the original's own device the buffers are the original's own."""
    devices = [device_of(device) for device in devices]
    modules = list(network.modules())
    parameters = _copies(list(network.parameters()), devices, detach)
    buffers = _copies(_unique(network.buffers()), devices, True)
    return [_replicate_one(modules, parameters[i], buffers[i]) for i in range(len(devices))]
