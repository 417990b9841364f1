"""Every replica on its own arguments."""

import traceback

from tandem import _C
from tandem.nn.parallel.comm import device_of


def _first_tensor(value):
    if isinstance(value, _C.Tensor):
        return value
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, (list, tuple)) or not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"):
        for item in value:
            found = _first_tensor(item)
            if found is not None:
                return found
    return None


def _reraise(error, where):
    """Raises an error of the same class that says where it was, with its traceback as text."""
    text = f"Caught {type(error).__name__} {where}.\nOriginal {''.join(traceback.format_exception(error))}"
    try:
        raised = type(error)(text)
    except Exception:
        raised = RuntimeError(text)
    raise raised from None


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """modules[i](*inputs[i], **kwargs_tup[i]) on device i, for all i.

    GPUs are asynchronous, so the calls are made one after another, and the GPUs compute at the same time."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    kwargs_tup = ({},) * len(modules) if kwargs_tup is None else kwargs_tup
    devices = [None] * len(modules) if devices is None else [device_of(device) for device in devices]
    if not len(modules) == len(kwargs_tup) == len(devices):
        raise AssertionError("modules, inputs, kwargs_tup and devices must have the same length")
    before = _C.cuda.current_device() if _C.cuda.device_count() > 0 else None
    outputs = []
    try:
        for i, (module, arguments, keywords) in enumerate(zip(modules, inputs, kwargs_tup)):
            device = devices[i]
            if device is None:
                tensor = _first_tensor(arguments)
                device = None if tensor is None else tensor.device
            if device is not None and device.type == "cuda":
                _C.cuda.set_device(device)
            try:
                outputs.append(module(*arguments, **keywords) if isinstance(arguments, (list, tuple)) else module(arguments, **keywords))
            except Exception as error:
                _reraise(error, f"in replica {i} on device {device}")
    finally:
        if before is not None:
            _C.cuda.set_device(before)
    return outputs
