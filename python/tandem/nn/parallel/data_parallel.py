"""One module trained on several GPUs of this process, each with its share of the batch."""

from itertools import chain

from tandem import _C
from tandem.nn.modules.module import Module
from tandem.nn.parallel.comm import device_of, devices_of
from tandem.nn.parallel.parallel_apply import parallel_apply
from tandem.nn.parallel.replicate import replicate
from tandem.nn.parallel.scatter_gather import gather, scatter_kwargs


def _check_placement(module, device):
    for tensor in chain(module.parameters(), module.buffers()):
        if tensor.device != device:
            raise RuntimeError(
                f"module must have its parameters and buffers on device {device} (device_ids[0]) but found one of them on device: "
                f"{tensor.device}"
            )


class DataParallel(Module):
    """Calls a module on several GPUs: cuts the arguments along `dim`, copies the module, runs the copies at the same time, joins their
    outputs on `output_device`. Backward adds the copies' gradients up in the module's own parameters.

    The module must be on device_ids[0]. Without GPUs it is called as it is."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.dim = dim
        if _C.cuda.device_count() == 0:
            self.device_ids = []
            return
        devices = devices_of(device_ids)
        if not devices:
            raise RuntimeError("no available devices were found")
        self.device_ids = [device.index for device in devices]
        self.output_device = device_of(self.device_ids[0] if output_device is None else output_device)
        self.src_device_obj = devices[0]
        if len(devices) == 1:
            self.module.to(self.src_device_obj)

    def forward(self, *inputs, **kwargs):
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        _check_placement(self.module, self.src_device_obj)
        inputs, kwargs = self.scatter(inputs, kwargs, self.device_ids)
        if not inputs and not kwargs:
            inputs, kwargs = ((),), ({},)
        if len(self.device_ids) == 1:
            return self.module(*inputs[0], **kwargs[0])
        replicas = self.replicate(self.module, self.device_ids[: len(inputs)])
        return self.gather(self.parallel_apply(replicas, inputs, kwargs), self.output_device)

    def replicate(self, module, device_ids):
        """Copies of the module, one on each GPU."""
        return replicate(module, device_ids, not _C.is_grad_enabled())

    def scatter(self, inputs, kwargs, device_ids):
        """The arguments in parts, one for each GPU."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def parallel_apply(self, replicas, inputs, kwargs):
        """Every copy's output."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[: len(replicas)])

    def gather(self, outputs, output_device):
        """The outputs joined on one device."""
        return gather(outputs, output_device, dim=self.dim)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """One call of a module on several GPUs, as DataParallel makes it."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,) if inputs is not None else ()
    devices = devices_of(device_ids)
    if not devices:
        raise RuntimeError("no available devices were found")
    _check_placement(module, devices[0])
    inputs, module_kwargs = scatter_kwargs(inputs, module_kwargs or {}, devices, dim)
    if not inputs and not module_kwargs:
        inputs, module_kwargs = ((),), ({},)
    if len(devices) == 1:
        return module(*inputs[0], **module_kwargs[0])
    used = devices[: len(inputs)]
    outputs = parallel_apply(replicate(module, used, not _C.is_grad_enabled()), inputs, module_kwargs, used)
    return gather(outputs, devices[0] if output_device is None else output_device, dim)
