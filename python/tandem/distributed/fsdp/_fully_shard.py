"""fully_shard: divides a module's parameters in place. The module stays what it is, and gets the methods of FSDPModule."""

from dataclasses import dataclass

from tandem import _C
from tandem.distributed.fsdp import _state
from tandem.distributed.fsdp._calls import Call, begin_forward, end_forward, rest
from tandem.distributed.fsdp._casts import cast_floating
from tandem.distributed.fsdp._order import Order
from tandem.distributed.fsdp._unit import Plan, ShardParameter, Unit, find_members
from tandem.distributed.fsdp.api import ShardingStrategy
from tandem.distributed.groups import _get_default_group, handle_of
from tandem.nn.modules.module import Module
from tandem.nn.parallel.distributed import _moved


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """Dtypes that parameters compute in, gradients are averaged in, and outputs are given in. The shards keep their own dtype."""

    param_dtype: _C.dtype | None = None
    reduce_dtype: _C.dtype | None = None
    output_dtype: _C.dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Shards stay where the module computes."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Shards and their gradients stay on the CPU."""

    pin_memory: bool = True


class UnshardHandle:
    """What unshard(async_op=True) gives."""

    def __init__(self, units):
        self._units = units

    def wait(self):
        """Returns when the parameters are whole."""
        for unit in self._units:
            Call(unit).put_parameters()
        self._units = []


class _Sharded:
    """What fully_shard keeps of a module."""

    def __init__(self, module, unit, policy, reshard_after_forward, device):
        self.module, self.unit, self.policy, self.device = module, unit, policy, device
        self.reshard_after_forward = reshard_after_forward
        self.is_root = None
        self.order = Order()  # of the root
        self.calls = []

    def find_root(self):
        """The outermost module is the one that is called first. Unless told otherwise its parameters stay until backward."""
        if self.is_root is not None:
            return
        for part in self.module.modules():
            if isinstance(part, FSDPModule):
                part._sharded.is_root = part is self.module
                if part._sharded.unit is not None:
                    part._sharded.unit.order = self.order
        if self.unit is not None and self.reshard_after_forward is None:
            self.unit.reshard_after_forward = False

    def before(self, module, args, kwargs):
        """The hook before forward."""
        self.find_root()
        if self.is_root:
            args, kwargs = _moved(args, self.device), _moved(kwargs, self.device)
        if self.policy.cast_forward_inputs and self.policy.param_dtype is not None:
            args, kwargs = cast_floating(args, self.policy.param_dtype), cast_floating(kwargs, self.policy.param_dtype)
        if self.unit is not None:
            self.calls.append(begin_forward(self.unit, (args, kwargs)))
        return args, kwargs

    def after(self, module, args, output):
        """The hook after forward, also after one that has failed."""
        if self.unit is not None and self.calls:
            end_forward(self.unit, self.calls.pop(), output)
        if self.is_root:
            self.order.end()
        return output if self.policy.output_dtype is None else cast_floating(output, self.policy.output_dtype)

    def name_parts(self, module, state_dict, prefix, local_metadata):
        """The hook after state_dict: its entries can be made whole."""
        for member in self.unit.members:
            if not self.unit.summoned:
                part = ShardParameter(member.leaf.detach(), False)
                part._unit, part._member = self.unit, member
                for name in member.names:
                    if prefix + name in state_dict:
                        state_dict[prefix + name] = part


def _units_of(modules):
    """The units of sharded modules themselves; ValueError for others."""
    modules = list(modules)
    for module in modules:
        if not isinstance(module, FSDPModule):
            raise ValueError(f"expected modules of fully_shard, but got {type(module)}")
    return [unit for module in modules for unit in module._units(recurse=False)]


class FSDPModule:
    """What a module becomes by fully_shard, besides what it is."""

    def _units(self, recurse=True):
        parts = [part for part in self.modules() if isinstance(part, FSDPModule)] if recurse else [self]
        return [part._sharded.unit for part in parts if part._sharded.unit is not None]

    def unshard(self, async_op=False):
        """Makes the module's own parameters whole, until reshard or the next forward. Every rank calls it.

        With `async_op` they are on their way, beside other work: what it gives waits for them."""
        units = self._units(recurse=False)
        for unit in units:
            unit.begin_gather()
        handle = UnshardHandle(units)
        if async_op:
            return handle
        handle.wait()
        return None

    def reshard(self):
        """Gives the whole parameters up."""
        for unit in self._units(recurse=False):
            rest(unit, True)

    def set_requires_gradient_sync(self, requires_gradient_sync, *, recurse=True):
        """Whether backward averages gradients; else they stay on their rank, whole, until one does."""
        for unit in self._units(recurse):
            unit.syncs = requires_gradient_sync

    def set_is_last_backward(self, is_last_backward):
        """Accepted: each backward is finished when it returns."""

    def set_requires_all_reduce(self, requires_all_reduce, *, recurse=True):
        """Accepted: there is one group of ranks, whose averages set_requires_gradient_sync turns off."""

    def set_reshard_after_forward(self, reshard_after_forward, recurse=True):
        """Whether parameters are given up behind forward."""
        for unit in self._units(recurse):
            unit.reshard_after_forward = reshard_after_forward

    def set_reshard_after_backward(self, reshard_after_backward, *, recurse=True):
        """Whether parameters are given up behind backward."""
        for unit in self._units(recurse):
            unit.reshard_after_backward = reshard_after_backward

    def set_gradient_divide_factor(self, factor):
        """What sums of gradients are divided by, in place of the number of ranks."""
        for unit in self._units():
            unit.divide_factor = factor

    def set_reduce_scatter_divide_factor(self, factor):
        """The older name of set_gradient_divide_factor."""
        self.set_gradient_divide_factor(factor)

    def set_modules_to_forward_prefetch(self, modules):
        """Modules whose parameters are gathered while this one computes forward; unless given, those of the module that comes next."""
        for unit in self._units(recurse=False):
            unit.forward_prefetch = _units_of(modules)

    def set_modules_to_backward_prefetch(self, modules):
        """The same while this one computes backward."""
        for unit in self._units(recurse=False):
            unit.backward_prefetch = _units_of(modules)

    def set_unshard_in_backward(self, unshard_in_backward):
        """Accepted."""


def fully_shard(
    module, *, mesh=None, reshard_after_forward=None, shard_placement_fn=None, mp_policy=MixedPrecisionPolicy(),
    offload_policy=OffloadPolicy(), ignored_params=None, dp_mesh_dims=None,
):
    """Divides those parameters of a module that are in no unit yet among the ranks: each keeps its part of all elements.

    Called for inner modules first, then for the module around them. Between calls a parameter is this rank's part of it, a vector;
    `parameter.full_tensor()` gives the whole. An optimizer is made after this."""
    if isinstance(module, (list, tuple)):
        raise NotImplementedError("fully_shard: a list of modules is not supported: put them into one module, or shard each")
    if not isinstance(module, Module):
        raise ValueError(f"fully_shard expects a module, but got {type(module)}")
    if isinstance(module, FSDPModule):
        raise AssertionError("Each distinct composable distributed API can only be applied to a module once: it is sharded already")
    if shard_placement_fn is not None or dp_mesh_dims is not None:
        raise NotImplementedError("fully_shard: shard_placement_fn and dp_mesh_dims are not supported: elements are divided in their order")
    if mesh is not None and mesh.ndim != 1:
        raise NotImplementedError("fully_shard: only a mesh of one dimension is supported")
    group = _get_default_group() if mesh is None else mesh.get_group()
    first = next((one for one in module.parameters() if not isinstance(one, ShardParameter)), None)
    inner = next((part for part in module.modules() if isinstance(part, FSDPModule)), None)
    device = first.device if first is not None else _C.device("cpu") if inner is None else inner._sharded.device
    if mesh is not None and mesh.device_type == "cuda":
        device = _C.device("cuda", _C.cuda.current_device())
    members = find_members(module, set(ignored_params or ()))
    unit = None
    if members:
        strategy = ShardingStrategy.SHARD_GRAD_OP if reshard_after_forward is False else ShardingStrategy.FULL_SHARD
        plan = Plan(
            group, strategy, device, mp_policy.param_dtype, mp_policy.reduce_dtype, offload=isinstance(offload_policy, CPUOffloadPolicy),
            use_orig_params=True,
        )
        unit = Unit(module, f"fully_shard {handle_of(group).next_number()}", members, plan)
        module._register_load_state_dict_pre_hook(_state.LocalParts(unit))
    _move_buffers(module, device)
    module.__class__ = type(f"FSDP{type(module).__name__}", (FSDPModule, type(module)), {})
    module._sharded = sharded = _Sharded(module, unit, mp_policy, reshard_after_forward, device)
    module.register_forward_pre_hook(sharded.before, prepend=True, with_kwargs=True)
    module.register_forward_hook(sharded.after, always_call=True)
    if unit is not None:
        module._register_state_dict_hook(sharded.name_parts)
    return module


def _move_buffers(module, device):
    for part in module.modules():
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = buffer.to(device)


def register_fsdp_forward_method(module, method_name):
    """Makes a method of a sharded module be called as its forward is: with whole parameters."""
    if not isinstance(module, FSDPModule):
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    method = getattr(module, method_name)

    def called(*args, **kwargs):
        args, kwargs = module._sharded.before(module, args, kwargs)
        output = None
        try:
            output = method(*args, **kwargs)
        finally:
            output = module._sharded.after(module, args, output)
        return output

    module.__dict__[method_name] = called


def share_comm_ctx(modules):
    """Accepted: collectives run in their order in any case."""
