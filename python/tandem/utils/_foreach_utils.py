"""What optimizers in other libraries ask before they call torch._foreach_add and its kin."""

from tandem import _C


def _get_foreach_kernels_supported_devices():
    """Kinds of devices that such functions serve in few launches; tandem's go tensor by tensor anywhere."""
    return ["cuda"]


_get_fused_kernels_supported_devices = _get_foreach_kernels_supported_devices


def _device_has_foreach_support(device):
    return device.type in ("cpu", *_get_foreach_kernels_supported_devices())


def _has_foreach_support(tensors, device):
    """Whether all are tensors, on a device that is served."""
    return _device_has_foreach_support(device) and all(tensor is None or isinstance(tensor, _C.Tensor) for tensor in tensors)


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """Lists of equal length or empty, parted by the device and dtype of the first one's tensors: {(device, dtype): (lists, places)}."""
    groups = {}
    for place, tensor in enumerate(tensorlistlist[0]):
        lists, places = groups.setdefault((tensor.device, tensor.dtype), ([[] for _ in tensorlistlist], []))
        for part, whole in zip(lists, tensorlistlist):
            part.extend(whole[place:place + 1])
        if with_indices:
            places.append(place)
    return groups
