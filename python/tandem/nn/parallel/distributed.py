"""One module on every rank, each with its share of the data; their gradients are averaged while backward runs."""

from contextlib import contextmanager

from tandem import _C
from tandem.distributed.algorithms.join import Join, Joinable, JoinHook
from tandem.distributed.groups import _get_default_group, handle_of
from tandem.distributed.work import ReduceOp
from tandem.nn.modules.module import Module
from tandem.nn.parallel._grad_bucket import GradBucket
from tandem.nn.parallel.comm import device_of

_c = _C._distributed
_FIRST_BUCKET_MEGABYTES = 1
_BUCKET_MEGABYTES = 25


def _collect(value, found):
    """Adds the tensors in nested tuples, lists, dicts and dataclasses to `found`. False where objects of other kinds may hold more."""
    if isinstance(value, _C.Tensor):
        found.append(value)
        return True
    if value is None or isinstance(value, (str, bytes, int, float, complex)):
        return True
    if isinstance(value, dict):
        value = value.values()
    elif hasattr(value, "__dataclass_fields__"):
        value = vars(value).values()
    elif not isinstance(value, (list, tuple, set)):
        return False
    return all([_collect(item, found) for item in value])


def _tensors_in(value):
    """The tensors in nested tuples, lists, dicts and dataclasses."""
    found = []
    _collect(value, found)
    return found


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


class _TakePart(JoinHook):
    """What a rank without another batch does in DistributedDataParallel.join."""

    def __init__(self, ddp, divide_by_initial_world_size):
        self._ddp = ddp
        ddp._divides_by_all = divide_by_initial_world_size

    def main_hook(self):
        """As a forward and a backward without samples."""
        ddp = self._ddp
        averages = ddp._averages_anywhere(False)
        if averages:
            ddp.reducer.prepare()
        if ddp.will_sync_module_buffers():
            ddp._sync_buffers(False)
        ddp.require_forward_param_sync = averages
        if averages:
            ddp._set_factor(ddp._join_config.active_ranks)
            ddp.reducer.take_part()

    def post_hook(self, is_last_joiner):
        """All get the parameters and buffers of those that came last."""
        ddp = self._ddp
        source = ddp._common_rank(is_last_joiner)
        ddp._broadcast([parameter for name, parameter in ddp.module.named_parameters() if name not in ddp.parameters_to_ignore], source)
        ddp._broadcast(ddp._buffers_to_send(), source)


class DistributedDataParallel(Module, Joinable):
    """Wraps a module of which every rank has one, made alike by rank 0's parameters and buffers.

    Calls go to the module; backward puts the average of all ranks' gradients into the parameters' `.grad`, so that after each step all
    ranks have the same parameters. Every rank calls forward, and backward, equally often. Parameters that some forward does not use need
    `find_unused_parameters`, or `static_graph`. With `gradient_as_bucket_view` gradients are views of what is sent. The parameters of
    `delay_all_reduce_named_params`, pairs of names and parameters, are averaged last. What tunes PyTorch's buckets further is accepted."""

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
        if mixed_precision is not None:
            raise NotImplementedError("DistributedDataParallel: mixed_precision is not supported: use torch.autocast in forward")
        if (delay_all_reduce_named_params is None) != (param_to_hook_all_reduce is None):
            raise ValueError("delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same time.")
        if device_mesh is not None:
            if process_group is not None:
                raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
            if device_mesh.ndim != 1:
                raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
            process_group = device_mesh.get_group(mesh_dim=0)
        self.process_group = _get_default_group() if process_group is None else process_group
        self.module = module
        self.dim = dim
        self.broadcast_buffers = broadcast_buffers is not False and forward_sync_buffers is not False
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self._divides_by_all = True  # in join: by all ranks, not by those that have samples
        self._delayed = {name for name, _ in delay_all_reduce_named_params or ()}
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        named = [(name, parameter) for name, parameter in module.named_parameters() if name not in self.parameters_to_ignore]
        if not any(parameter.requires_grad for _, parameter in named):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient.")
        self._set_devices(device_ids, output_device, [parameter for _, parameter in named])
        self._bucket_megabytes = _BUCKET_MEGABYTES if bucket_cap_mb is None else bucket_cap_mb
        self._first_bucket_megabytes = self._bucket_megabytes if bucket_cap_mb is not None else _FIRST_BUCKET_MEGABYTES
        self.bucket_bytes_cap = int(self._bucket_megabytes * (1 << 20))
        if init_sync:
            _c.check_alike(handle_of(self.process_group), [name for name, _ in named], [parameter for _, parameter in named], "parameter")
            self._broadcast([parameter for _, parameter in named])
            self._broadcast(self._buffers_to_send())
        self._number = handle_of(self.process_group).next_number()
        self._listen()

    def _listen(self):
        """Makes what averages the gradients."""
        named = {name: parameter for name, parameter in self.module.named_parameters() if name not in self.parameters_to_ignore}
        self.reducer = _C._parallel.Reducer(
            f"DistributedDataParallel {self._number}: ",
            list(named),
            list(named.values()),
            handle_of(self.process_group),
            self.find_unused_parameters or self.static_graph,
            self._first_bucket_megabytes,
            self._bucket_megabytes,
            self.gradient_as_bucket_view,
            list(self._delayed),
        )
        self._has_comm_hook = False

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

    def _broadcast(self, tensors, source=0):
        """The values of one rank, for all tensors of one device together."""
        by_device = {}
        for tensor in tensors:
            by_device.setdefault(str(tensor.device), []).append(tensor)
        for together in by_device.values():
            _c.broadcast_values(handle_of(self.process_group), together, source)

    def will_sync_module_buffers(self):
        """Whether the next forward takes buffers from another rank."""
        return self.require_forward_param_sync and self.broadcast_buffers and bool(self._buffers_to_send())

    def _sync_buffers(self, has_samples):
        """Rank 0's buffers; in join those of the last rank that still has samples."""
        self._broadcast(self._buffers_to_send(), self._common_rank(has_samples) if self._join_config.enable else 0)

    def _common_rank(self, is_possible):
        """The last of the ranks that say True."""
        handle = handle_of(self.process_group)
        rank = _C.tensor([handle.rank() if is_possible else -1], device=self.device)
        _c.all_reduce(handle, rank, ReduceOp.MAX, False, "Join")
        if rank.item() < 0:
            raise ValueError("DistributedDataParallel.join: no rank has samples")
        return rank.item()

    def _averages_anywhere(self, averages):
        """In join: whether a rank with samples averages the gradients of this batch."""
        flag = _C.tensor([int(averages)], device=self.device)
        _c.all_reduce(handle_of(self.process_group), flag, ReduceOp.MAX, False, "Join")
        return flag.item() > 0

    def _set_factor(self, active_ranks):
        self.reducer.set_scale(1 / (handle_of(self.process_group).size() if self._divides_by_all else active_ranks))

    def _notify_join(self, averages):
        """Tells ranks without samples what comes."""
        active_ranks = Join.notify_join_context(self)
        if not self._join_config.enable:
            self.reducer.set_scale(1 / handle_of(self.process_group).size())
            return
        if active_ranks is not None:
            self._set_factor(active_ranks.item())
        self._averages_anywhere(averages)

    def forward(self, *inputs, **kwargs):
        is_recording = _C.is_grad_enabled()
        averages = is_recording and self.require_backward_grad_sync
        if is_recording:
            self.reducer.check()
        self._notify_join(averages)
        if averages:
            self.reducer.prepare()
        if self.will_sync_module_buffers():
            self._sync_buffers(True)
        self.require_forward_param_sync = averages
        if self.device_ids:
            inputs, kwargs = _moved(inputs, self.device), _moved(kwargs, self.device)
        output = self.module(*inputs, **kwargs)
        if is_recording:
            tensors = []
            are_all = _collect(output, tensors)
            self.reducer.set_averages(averages)
            self.reducer.after_forward(tensors, are_all and bool(tensors))
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
        """with ddp.join(): the number of batches in this block may differ between ranks. One that is done takes part without samples.

        Gradients are divided by all ranks, or by those that have samples where `divide_by_initial_world_size` is False. In the end all
        have the parameters and buffers of those that came last."""
        return Join([self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, **kwargs):
        """What Join calls on a rank that is done."""
        return _TakePart(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self):
        """Where the module is."""
        return self.device

    @property
    def join_process_group(self):
        """The ranks that average."""
        return self.process_group

    def register_comm_hook(self, state, hook):
        """Averages each bucket by hook(state, bucket), which gives a Future of the flat tensor of averages."""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self._has_comm_hook:
            raise RuntimeError("register_comm_hook can only be called once.")
        self._has_comm_hook = True
        self.reducer.set_comm_hook(lambda *bucket: hook(state, GradBucket(*bucket)))

    def scatter(self, inputs, kwargs, device_ids):
        """The arguments on this rank's GPU."""
        return (_moved(inputs, self.device),), (_moved(kwargs, self.device),)

    def to_kwargs(self, inputs, kwargs, device_id):
        """As scatter."""
        return self.scatter(inputs, kwargs, [device_id])

    def gather(self, outputs, output_device):
        """The outputs as they are."""
        return outputs

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module, params_and_buffers_to_ignore):
        """Before wrapping: the names of parameters and buffers that stay each rank's own."""
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore

    def get_ddp_logging_data(self):
        """A few facts of this wrapper."""
        handle = handle_of(self.process_group)
        return {
            "world_size": handle.size(),
            "rank": handle.ranks()[handle.rank()],
            "num_buckets": len(self.reducer.buckets()),
            "find_unused_parameters": self.find_unused_parameters,
        }

    _get_ddp_logging_data = get_ddp_logging_data

    def _set_static_graph(self):
        """As `static_graph`, after the fact."""
        self.static_graph = True
        self.reducer.look_for_unused()
