"""One module on every rank, each with its share of the data; their gradients are averaged while backward runs."""

from contextlib import contextmanager

from tandem import _C
from tandem.distributed.groups import _get_default_group, handle_of
from tandem.nn.modules.module import Module
from tandem.nn.parallel._reducer import Reducer
from tandem.nn.parallel.comm import device_of

_c = _C._distributed
_FIRST_BUCKET_BYTES = 1 << 20
_BUCKET_MEGABYTES = 25


def _tensors_in(value):
    """The tensors in nested tuples, lists, dicts and objects with attributes such as dataclasses."""
    if isinstance(value, _C.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif hasattr(value, "__dataclass_fields__"):
        value = vars(value).values()
    elif not isinstance(value, (list, tuple, set)):
        return []
    return [tensor for item in value for tensor in _tensors_in(item)]


def _moved(value, device):
    """The same with every tensor on the device."""
    if isinstance(value, _C.Tensor):
        return value.to(device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_moved(item, device) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(item, device) for item in value)
    if isinstance(value, dict):
        return type(value)((key, _moved(item, device)) for key, item in value.items())
    return value


class DistributedDataParallel(Module):
    """Wraps a module of which every rank has one, made alike by rank 0's parameters and buffers.

    Calls go to the module; backward puts the average of all ranks' gradients into the parameters' `.grad`, so that after each step all
    ranks have the same parameters. Every rank calls forward, and backward, equally often. Parameters that some forward does not use need
    `find_unused_parameters`. What tunes PyTorch's buckets further is accepted."""

    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=None,
        init_sync=True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters=False,
        check_reduction=False,
        gradient_as_bucket_view=False,
        static_graph=False,
        delay_all_reduce_named_params=None,
        param_to_hook_all_reduce=None,
        mixed_precision=None,
        device_mesh=None,
        skip_all_reduce_unused_params=False,
        bucket_cap_mb_list=None,
        batched_grad_copy=False,
        forward_sync_buffers=None,
        lazy_bucket_allocation=False,
    ):
        super().__init__()
        if delay_all_reduce_named_params is not None or mixed_precision is not None or device_mesh is not None:
            raise NotImplementedError(
                "DistributedDataParallel: delay_all_reduce_named_params, mixed_precision and device_mesh are not supported"
            )
        self.process_group = _get_default_group() if process_group is None else process_group
        self.module = module
        self.dim = dim
        self.broadcast_buffers = broadcast_buffers is not False and forward_sync_buffers is not False
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        named = [(name, parameter) for name, parameter in module.named_parameters() if name not in self.parameters_to_ignore]
        if not any(parameter.requires_grad for _, parameter in named):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient.")
        self._set_devices(device_ids, output_device, [parameter for _, parameter in named])
        self.bucket_bytes_cap = int((_BUCKET_MEGABYTES if bucket_cap_mb is None else bucket_cap_mb) * (1 << 20))
        self._first_bytes = self.bucket_bytes_cap if bucket_cap_mb is not None else _FIRST_BUCKET_BYTES
        if init_sync:
            _c.check_alike(handle_of(self.process_group), [name for name, _ in named], [parameter for _, parameter in named], "parameter")
            self._broadcast([parameter for _, parameter in named])
            self._broadcast(self._buffers_to_send())
        self._number = handle_of(self.process_group).next_number()
        self._listen()

    def _listen(self):
        """Makes what averages the gradients."""
        named = [(name, parameter) for name, parameter in self.module.named_parameters() if name not in self.parameters_to_ignore]
        named = [(name, parameter) for name, parameter in named if parameter.requires_grad]
        self.reducer = Reducer(
            f"DistributedDataParallel {self._number}",
            [name for name, _ in named],
            [parameter for _, parameter in named],
            self.process_group,
            self._first_bytes,
            self.bucket_bytes_cap,
            self.find_unused_parameters or self.static_graph,
        )

    def __getstate__(self):
        state = super().__getstate__()
        del state["process_group"], state["reducer"]
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        self.process_group = _get_default_group()
        self._listen()

    def _buffers_to_send(self):
        return [buffer for name, buffer in self.module.named_buffers() if name not in self.parameters_to_ignore]

    def _set_devices(self, device_ids, output_device, parameters):
        devices = {parameter.device for parameter in parameters}
        self.is_multi_device_module = len(devices) > 1
        self.device_type = parameters[0].device.type
        if device_ids and (len(device_ids) > 1 or self.device_type == "cpu" or self.is_multi_device_module):
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device GPU modules "
                f"or CPU modules, but got device_ids {device_ids}, output_device {output_device}, and module parameters {devices}."
            )
        self.device_ids = [device_of(device).index for device in device_ids] if device_ids else None
        if output_device is None and device_ids:
            output_device = device_ids[0]
        self.output_device = None if output_device is None else device_of(output_device)
        self.device = parameters[0].device

    def _broadcast(self, tensors):
        """Rank 0's values, for all tensors of one device together."""
        by_device = {}
        for tensor in tensors:
            by_device.setdefault(str(tensor.device), []).append(tensor)
        for together in by_device.values():
            _c.broadcast_values(handle_of(self.process_group), together, 0)

    def forward(self, *inputs, **kwargs):
        averages = _C.is_grad_enabled() and self.require_backward_grad_sync
        if _C.is_grad_enabled():
            self.reducer.prepare(averages)
        if self.broadcast_buffers and self.require_forward_param_sync:
            self._broadcast(self._buffers_to_send())
        self.require_forward_param_sync = self.require_backward_grad_sync
        if self.device_ids:
            inputs, kwargs = _moved(inputs, self.device), _moved(kwargs, self.device)
        output = self.module(*inputs, **kwargs)
        if averages:
            self.reducer.look_for_unused([tensor for tensor in _tensors_in(output) if tensor.requires_grad])
        return output

    @contextmanager
    def no_sync(self):
        """with ddp.no_sync(): gradients of the forwards in this block add up on their own rank; the first one after it averages the sum."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """Not supported: give all ranks as many batches, as DistributedSampler does."""
        raise NotImplementedError(
            "DistributedDataParallel.join is not supported: give all ranks as many batches, as DistributedSampler does"
        )

    def register_comm_hook(self, state, hook):
        """Averages each bucket by hook(state, bucket), which gives a Future of the flat tensor of averages."""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.comm_hook is not None:
            raise RuntimeError("register_comm_hook can only be called once.")
        self.reducer.comm_hook = lambda bucket: hook(state, bucket)

    def scatter(self, inputs, kwargs, device_ids):
        """The arguments on this rank's GPU."""
        return (_moved(inputs, self.device),), (_moved(kwargs, self.device),)

    def get_ddp_logging_data(self):
        """A few facts of this wrapper."""
        handle = handle_of(self.process_group)
        return {
            "world_size": handle.size(),
            "rank": handle.ranks()[handle.rank()],
            "num_buckets": len(self.reducer.buckets),
            "find_unused_parameters": self.find_unused_parameters,
        }

    def _set_static_graph(self):
        """Accepted."""
        self.static_graph = True
