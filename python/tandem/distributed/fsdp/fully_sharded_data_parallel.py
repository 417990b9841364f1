"""FullyShardedDataParallel: a module whose parameters, gradients and optimizer states are divided among the ranks."""

from contextlib import ExitStack, contextmanager

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributed.fsdp import _optim_state, _state
from tandem.distributed.fsdp._calls import begin_forward, end_forward
from tandem.distributed.fsdp._casts import cast_floating
from tandem.distributed.fsdp._norms import total_norm
from tandem.distributed.fsdp._order import Order
from tandem.distributed.fsdp._unit import WRAPPED, FlatParameter, Plan, ShardParameter, Unit, clean_name, find_members
from tandem.distributed.fsdp.api import (  # noqa: F401
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)
from tandem.distributed.fsdp.wrap import parts_to_wrap, replace_part
from tandem.distributed.groups import _get_default_group, handle_of
from tandem.nn.modules.module import Module
from tandem.nn.parallel.comm import device_of
from tandem.nn.parallel.distributed import _moved
from tandem.nn.utils.clip_grad import clip_grads_with_norm_

_c = _C._distributed


def ignored_parameters(ignored_modules, ignored_states):
    """The modules that are left as they are, with all below them, and the parameters that belong to nobody."""
    states = list(ignored_states or ())
    modules = [*(ignored_modules or ()), *(one for one in states if isinstance(one, Module))]
    for one in modules:
        if not isinstance(one, Module):
            raise TypeError(f"ignored_modules should be an iterable of torch.nn.Modules, but got {type(one)}")
        if isinstance(one, FullyShardedDataParallel):
            raise ValueError("`ignored_modules` should not include FSDP modules")
    modules = {part for one in modules for part in one.modules()}
    parameters = {parameter for part in modules for parameter in part.parameters(recurse=False)}
    return modules, parameters | {one for one in states if isinstance(one, _C.Tensor)}


class FullyShardedDataParallel(Module):
    """Divides the parameters of a module among the ranks: each keeps its part of all elements, of their gradients and so of optimizers'
    states.

    What is not in a FullyShardedDataParallel below is one unit. It is gathered before forward, given up behind it, and gathered again for
    backward, whose gradients are averaged straight into the parts. While one unit computes, the next one is gathered, in the order of the
    first forward; in backward as `backward_prefetch` says. Optimizers are made after this, of `parameters()`, and work element by element.
    All ranks call the same units in the same order."""

    def __init__(
        self, module, process_group=None, sharding_strategy=None, cpu_offload=None, auto_wrap_policy=None,
        backward_prefetch=BackwardPrefetch.BACKWARD_PRE, mixed_precision=None, ignored_modules=None, param_init_fn=None, device_id=None,
        sync_module_states=False, forward_prefetch=False, limit_all_gathers=True, use_orig_params=False, ignored_states=None,
        device_mesh=None,
    ):
        super().__init__()
        if device_mesh is not None:
            if process_group is not None:
                raise ValueError("Cannot pass both process_group and device_mesh at the same time. Please just pass only one of them.")
            process_group = device_mesh.get_group()
        if sharding_strategy in (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2):
            raise NotImplementedError(
                f"FullyShardedDataParallel: {sharding_strategy} is not supported: give FULL_SHARD or SHARD_GRAD_OP, which divide among all "
                "ranks of process_group, or NO_SHARD"
            )
        if ignored_modules is not None and ignored_states is not None:
            raise ValueError("Cannot pass both ignored_modules and ignored_states at the same time. Please just pass ignored_states.")
        self.process_group = _get_default_group() if process_group is None else process_group
        self.sharding_strategy = sharding_strategy or ShardingStrategy.FULL_SHARD
        self.mixed_precision = mixed_precision or MixedPrecision()
        self.cpu_offload = cpu_offload or CPUOffload()
        self.compute_device = self._find_device(module, device_id)
        self._ignored_modules, self._ignored = ignored_parameters(ignored_modules, ignored_states)
        self._settings = StateDictSettings()
        self._is_root = None
        self._order = Order()  # of the root
        self._is_summoned = False
        if auto_wrap_policy is not None:
            self._wrap_parts(module, auto_wrap_policy, {
                "process_group": process_group, "sharding_strategy": sharding_strategy, "cpu_offload": cpu_offload,
                "backward_prefetch": backward_prefetch, "mixed_precision": mixed_precision, "param_init_fn": param_init_fn,
                "device_id": device_id, "sync_module_states": sync_module_states, "forward_prefetch": forward_prefetch,
                "limit_all_gathers": limit_all_gathers, "use_orig_params": use_orig_params,
            })
        self._modules[WRAPPED] = module
        self._prepare_buffers(sync_module_states)
        members = find_members(module, self._ignored)
        if sync_module_states and members:
            _c.broadcast_values(handle_of(self.process_group), [member.parameter.detach() for member in members], 0)
        self._unit = None
        if members:
            plan = Plan(
                self.process_group, self.sharding_strategy, self.compute_device, self.mixed_precision.param_dtype,
                self.mixed_precision.reduce_dtype, self.mixed_precision.keep_low_precision_grads, self.cpu_offload.offload_params,
                use_orig_params,
            )
            number = handle_of(self.process_group).next_number()
            self._unit = Unit(module, f"FullyShardedDataParallel {number}", members, plan)
            self._unit.prefetches_late = backward_prefetch is BackwardPrefetch.BACKWARD_POST
            if backward_prefetch is None:
                self._unit.backward_prefetch = ()
            module._register_load_state_dict_pre_hook(_state.LocalParts(self._unit))

    # --- Making
    @staticmethod
    def _find_device(module, device_id):
        if device_id is not None:
            return device_of(device_id)
        parameter = next((one for one in module.parameters() if not isinstance(one, (FlatParameter, ShardParameter))), None)
        if parameter is not None:
            return parameter.device
        inner = next((part for part in module.modules() if isinstance(part, FullyShardedDataParallel)), None)
        return _C.device("cpu") if inner is None else inner.compute_device

    def _wrap_parts(self, module, policy, options):
        if any(isinstance(part, FullyShardedDataParallel) for part in module.modules()):
            raise ValueError("FSDP auto wrapping requires modules to not already have FSDP applied but found one already wrapped")
        parts = parts_to_wrap(module, policy, self._ignored_modules, self._ignored, options)
        kept = _state.shared_between(module, [part for part, _ in parts])
        for part, own in parts:
            if any(parameter not in self._ignored and parameter not in kept for parameter in part.parameters()):
                states = [*self._ignored, *kept]
                replace_part(module, part, FullyShardedDataParallel(part, **own, ignored_states=states))

    def _prepare_buffers(self, syncs):
        """Moves the buffers of this unit's modules to where it computes, in their dtype, and takes rank 0's values where asked for."""
        found = [
            (part, name, buffer) for part in self._own_modules() for name, buffer in part._buffers.items()
            if buffer is not None and part not in self._ignored_modules
        ]
        dtype = self.mixed_precision.buffer_dtype
        with no_grad():
            for part, name, buffer in found:
                part._buffers[name] = cast_floating(buffer.to(self.compute_device), dtype or buffer.dtype)
        buffers = [part._buffers[name] for part, name, _ in found]
        if syncs and buffers:
            _c.broadcast_values(handle_of(self.process_group), buffers, 0)

    def _own_modules(self):
        """The modules below that are not in another wrapper."""
        def visit(part):
            yield part
            for child in part._modules.values():
                if child is not None and not isinstance(child, FullyShardedDataParallel):
                    yield from visit(child)
        return visit(self._modules[WRAPPED])

    # --- What it is to others
    @property
    def module(self):
        """The module that is wrapped."""
        return self._modules[WRAPPED]

    @property
    def _flat_param(self):
        return None if self._unit is None or self._unit.plan.use_orig_params else self._unit.leaves[0]

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["_modules"][WRAPPED], name)

    def __getitem__(self, key):
        return self.module[key]

    def check_is_root(self):
        """Whether it is in no other wrapper. Decided by the first call, or here."""
        self._find_root()
        return self._is_root

    def _find_root(self):
        if self._is_root is None:
            for part in self.modules():
                if isinstance(part, FullyShardedDataParallel):
                    part._is_root = part is self
                    if part._unit is not None:
                        part._unit.order = self._order

    @staticmethod
    def fsdp_modules(module, root_only=False):
        """The wrappers in a module, itself perhaps among them; with `root_only` those that are in no other."""
        found = [part for part in module.modules() if isinstance(part, FullyShardedDataParallel)]
        return [part for part in found if part.check_is_root()] if root_only else found

    def named_parameters(self, *args, **kwargs):
        """As Module's. Names are the module's own while parameters are whole (summon_full_params)."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield (clean_name(name) if self._is_summoned or isinstance(parameter, ShardParameter) else name), parameter

    def named_buffers(self, *args, **kwargs):
        """As Module's."""
        for name, buffer in super().named_buffers(*args, **kwargs):
            yield (clean_name(name) if self._is_summoned else name), buffer

    def apply(self, fn):
        """Calls `fn` with each module below and itself while their parameters are whole, and keeps what it changes."""
        with FullyShardedDataParallel.summon_full_params(self):
            return super().apply(fn)

    # --- Calls
    def forward(self, *args, **kwargs):
        self._find_root()
        if self._is_root:
            args, kwargs = _moved(args, self.compute_device), _moved(kwargs, self.compute_device)
        precision = self.mixed_precision
        casts = precision.cast_root_forward_inputs if self._is_root else precision.cast_forward_inputs
        if precision.param_dtype is not None and (casts or precision.cast_forward_inputs):
            args, kwargs = cast_floating(args, precision.param_dtype), cast_floating(kwargs, precision.param_dtype)
        call = None if self._unit is None else begin_forward(self._unit, (args, kwargs))
        output = None
        try:
            output = self.module(*args, **kwargs)
        finally:
            if self._unit is not None:
                end_forward(self._unit, call, output)
            if self._is_root:
                self._order.end()
        return output

    @contextmanager
    def no_sync(self):
        """with fsdp.no_sync(): gradients of the backwards in this block stay on their rank, whole; the next one averages the sum."""
        units = [part._unit for part in FullyShardedDataParallel.fsdp_modules(self) if part._unit is not None]
        before = [unit.syncs for unit in units]
        for unit in units:
            unit.syncs = False
        try:
            yield
        finally:
            for unit, synced in zip(units, before):
                unit.syncs = synced

    def zero_grad(self, set_to_none=True):
        """As Module's; also forgets the gradients that no_sync has kept whole."""
        for part in FullyShardedDataParallel.fsdp_modules(self):
            if part._unit is not None:
                part._unit.unsynced = None
        super().zero_grad(set_to_none)

    def clip_grad_norm_(self, max_norm, norm_type=2.0):
        """Scales the gradients so that their norm together, over all ranks, is at most max_norm; returns the norm there was."""
        parameters = list(self.parameters())
        total = total_norm(parameters, float(norm_type))
        clip_grads_with_norm_(parameters, max_norm, total)
        return total

    def register_comm_hook(self, state, hook):
        """Not supported: gradients are averaged into the parts."""
        raise NotImplementedError("FullyShardedDataParallel.register_comm_hook is not supported: DistributedDataParallel has hooks")

    # --- Whole parameters
    @staticmethod
    @contextmanager
    def summon_full_params(module, recurse=True, writeback=True, rank0_only=False, offload_to_cpu=False, with_grads=False):
        """A block in which the parameters are whole. Every rank enters it.

        With `writeback` each rank keeps its part of what is changed in them; with `rank0_only` the others see their parts."""
        if writeback and rank0_only:
            raise NotImplementedError(
                "writeback=True and rank0_only=True is not supported: what rank 0 changes would not reach the other ranks' shards"
            )
        parts = FullyShardedDataParallel.fsdp_modules(module) if recurse else [
            part for part in [module] if isinstance(part, FullyShardedDataParallel)
        ]
        with ExitStack() as stack:
            for part in parts:
                if part._unit is not None:
                    stack.enter_context(_state.whole(part._unit, writeback, rank0_only, offload_to_cpu, with_grads))
                stack.callback(setattr, part, "_is_summoned", part._is_summoned)
                part._is_summoned = True
            yield

    # --- States
    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """The module's state under its own names, in the form that state_dict_type has set: whole on every rank unless told otherwise.

        Every rank calls it."""
        return _state.state_dict(self, args, destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict, prefix, *args):
        # The names of saved states are those without wrappers. The module's own hook takes this rank's parts.
        inner = f"{prefix}{WRAPPED}."
        for key in [key for key in state_dict if key.startswith(prefix) and not key.startswith(inner)]:
            state_dict[inner + key[len(prefix):]] = state_dict.pop(key)
        super()._load_from_state_dict(state_dict, prefix, *args)

    @staticmethod
    def set_state_dict_type(module, state_dict_type, state_dict_config=None, optim_state_dict_config=None):
        """What state_dict and optim_state_dict of all wrappers in a module give from now on; returns what it was."""
        settings = _state.settings_for(state_dict_type, state_dict_config, optim_state_dict_config)
        before = FullyShardedDataParallel.get_state_dict_type(module)
        for part in FullyShardedDataParallel.fsdp_modules(module):
            part._settings = settings
        return before

    @staticmethod
    def get_state_dict_type(module):
        """What set_state_dict_type has set."""
        parts = FullyShardedDataParallel.fsdp_modules(module)
        return parts[0]._settings if parts else StateDictSettings()

    @staticmethod
    @contextmanager
    def state_dict_type(module, state_dict_type, state_dict_config=None, optim_state_dict_config=None):
        """The same for a block."""
        before = FullyShardedDataParallel.set_state_dict_type(module, state_dict_type, state_dict_config, optim_state_dict_config)
        try:
            yield
        finally:
            for part in FullyShardedDataParallel.fsdp_modules(module):
                part._settings = before

    @staticmethod
    def optim_state_dict(model, optim, optim_state_dict=None, group=None):
        """An optimizer's state by the names of parameters, in the form that state_dict_type has set. Every rank calls it."""
        settings = FullyShardedDataParallel.get_state_dict_type(model)
        config = settings.optim_state_dict_config
        if settings.state_dict_type is StateDictType.FULL_STATE_DICT:
            return _optim_state.full_state(model, optim, optim_state_dict, getattr(config, "rank0_only", False), config.offload_to_cpu)
        return _optim_state.part_of_state(model, optim, optim_state_dict, config.offload_to_cpu)

    @staticmethod
    def optim_state_dict_to_load(model, optim, optim_state_dict, is_named_optimizer=False, load_directly=False, group=None):
        """This rank's part of a state that optim_state_dict gave, on any number of ranks, for optim.load_state_dict."""
        state = _optim_state.to_load(model, optim, optim_state_dict)
        if load_directly:
            optim.load_state_dict(state)
        return state

    @staticmethod
    def full_optim_state_dict(model, optim, optim_input=None, rank0_only=True, group=None):
        """The whole state of an optimizer by the names of parameters, on the CPU of rank 0 or of all ranks. Every rank calls it."""
        return _optim_state.full_state(model, optim, None, rank0_only, True)

    @staticmethod
    def sharded_optim_state_dict(model, optim, group=None):
        """This rank's part of the same."""
        return _optim_state.part_of_state(model, optim, None, False)

    @staticmethod
    def shard_full_optim_state_dict(full_optim_state_dict, model, optim_input=None, optim=None):
        """As optim_state_dict_to_load."""
        return _optim_state.to_load(model, optim, full_optim_state_dict)

    @staticmethod
    def flatten_sharded_optim_state_dict(sharded_optim_state_dict, model, optim):
        """As optim_state_dict_to_load."""
        return _optim_state.to_load(model, optim, sharded_optim_state_dict)

    @staticmethod
    def scatter_full_optim_state_dict(full_optim_state_dict, model, optim_input=None, optim=None, group=None):
        """The same of a state that rank 0 alone has."""
        from tandem.distributed.objects import broadcast_object_list
        holder = [full_optim_state_dict]
        broadcast_object_list(holder, group_src=0, group=group)
        return _optim_state.to_load(model, optim, holder[0])

    @staticmethod
    def rekey_optim_state_dict(optim_state_dict, optim_state_key_type, model, optim_input=None, optim=None):
        """A whole state with parameters called by their numbers in an optimizer of the whole module, or by their names."""
        return _optim_state.rekey(optim_state_dict, optim_state_key_type, model)
