"""Parameters of units made whole for a block, and state dictionaries: whole, or of this rank's parts."""

import warnings
from collections import OrderedDict
from contextlib import ExitStack, contextmanager

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributed.fsdp import api
from tandem.distributed.fsdp._unit import FLAT, WRAPPED
from tandem.nn.parameter import Parameter

_CONFIGS = {
    api.StateDictType.FULL_STATE_DICT: (api.FullStateDictConfig, api.FullOptimStateDictConfig),
    api.StateDictType.LOCAL_STATE_DICT: (api.LocalStateDictConfig, api.LocalOptimStateDictConfig),
    api.StateDictType.SHARDED_STATE_DICT: (api.ShardedStateDictConfig, api.ShardedOptimStateDictConfig),
}


def settings_for(kind, config, optim_config):
    """StateDictSettings with what is not given; RuntimeError where a config is another type's."""
    made = []
    for given, wanted in zip((config, optim_config), _CONFIGS[kind]):
        given = wanted() if given is None else given
        if type(given) is not wanted:
            raise RuntimeError(f"Expected state_dict_config of type {wanted} but got {type(given)}")
        made.append(given)
    return api.StateDictSettings(kind, *made)


def shared_between(root, parts):
    """Parameters that are used inside of several of these parts, or also outside of all: none of them can have those alone."""
    part_set, owner, shared = set(parts), {}, set()

    def visit(module, inside):
        # A part within a part is the one that a parameter would belong to.
        inside = module if module in part_set else inside
        for parameter in module._parameters.values():
            if parameter is not None and owner.setdefault(parameter, inside) is not inside:
                shared.add(parameter)
        for child in module._modules.values():
            if child is not None:
                visit(child, inside)

    visit(root, root)
    return shared


def _gradient_of_part(unit):
    """The gradients of this rank's part, as one vector; None where there are none."""
    if not unit.plan.use_orig_params:
        return unit.leaves[0].grad
    if all(leaf.grad is None for leaf in unit.leaves):
        return None
    part = _C.zeros_like(unit.local)
    for member, first, last, place in unit.local_parts():
        if member.leaf.grad is not None:
            part[place:place + last - first].copy_(member.leaf.grad)
    return part


@contextmanager
def whole(unit, writeback, rank0_only=False, offload_to_cpu=False, with_grads=False):
    """A block in which the parameters of a unit are whole Parameters of their modules."""
    if unit.summoned:
        yield
        return
    with no_grad():
        together = unit.together()
        gradient = _gradient_of_part(unit) if with_grads else None
        gradients = None if gradient is None else unit.together(gradient.contiguous())
    if rank0_only and unit.handle.rank() != 0:
        yield
        return
    if offload_to_cpu:
        together, gradients = together.cpu(), None if gradients is None else gradients.cpu()
    parameters = [Parameter(view, unit.trains(member)) for member, view in zip(unit.members, unit.views_of(together))]
    if gradients is not None:
        for parameter, view in zip(parameters, unit.views_of(gradients)):
            if parameter.requires_grad:
                parameter.grad = view
    _register(unit, parameters)
    try:
        yield
    finally:
        try:
            if writeback:
                _keep_changes(unit, parameters, with_grads)
        finally:
            _unregister(unit)


def _register(unit, parameters):
    unit.summoned = True
    for member, parameter in zip(unit.members, parameters):
        for module, name in member.uses:
            module.__dict__.pop(name, None)
            module._parameters[name] = parameter
    unit.module._parameters.pop(FLAT, None)
    for module, order in unit.orders.values():
        own = module._parameters
        names = [name for name in order if name in own] + [name for name in own if name not in order]
        module._parameters = OrderedDict((name, own[name]) for name in names)


def _unregister(unit):
    unit.summoned = False
    for member in unit.members:
        for module, name in member.uses:
            if unit.plan.use_orig_params:
                module._parameters[name] = member.leaf
            else:
                del module._parameters[name]
    if not unit.plan.use_orig_params:
        unit.module._parameters[FLAT] = unit.leaves[0]
    unit.put_back()


def _keep_changes(unit, parameters, with_grads):
    """This rank's part of what was changed in whole parameters, also where the modules have others now."""
    whole_of = {}
    for member, parameter in zip(unit.members, parameters):
        module, name = member.uses[0]
        now = module._parameters.get(name)
        whole_of[id(member)] = parameter if now is None else now
    with no_grad():
        local, gradient = unit.local, _gradient_of_part(unit) if with_grads else None
        for member, first, last, place in unit.local_parts():
            now = whole_of[id(member)]
            local[place:place + last - first].copy_(now.detach().reshape(-1)[first:last])
            if gradient is not None and now.grad is not None:
                part = now.grad.reshape(-1)[first:last]
                (gradient[place:place + last - first] if member.leaf is None else member.leaf.grad).copy_(part)


# --- Saving
def state_dict(wrapper, args, destination, prefix, keep_vars):
    """What FullyShardedDataParallel.state_dict gives."""
    if args:
        warnings.warn("Positional args are being deprecated, use kwargs instead.", FutureWarning, stacklevel=3)
        destination = args[0] if destination is None else destination
        prefix = args[1] if len(args) > 1 and prefix == "" else prefix
        keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    before = set(destination)
    unit, settings = wrapper._unit, wrapper._settings
    kind, config = settings.state_dict_type, settings.state_dict_config
    with ExitStack() as stack:
        if unit is not None and kind is api.StateDictType.FULL_STATE_DICT:
            stack.enter_context(whole(unit, writeback=False))
        wrapper._modules[WRAPPED].state_dict(destination=destination, prefix=prefix, keep_vars=keep_vars)
    if unit is not None:
        _finish(unit, kind, destination, prefix)
    leaves_out = getattr(config, "rank0_only", False) and wrapper.process_group.rank() != 0
    for key in [key for key in destination if key not in before]:
        if leaves_out:
            del destination[key]
        elif config.offload_to_cpu and isinstance(destination[key], _C.Tensor):
            destination[key] = destination[key].cpu()
    return destination


def _finish(unit, kind, destination, prefix):
    """Makes a unit's entries independent of what they were taken from, and of the form that is asked for."""
    if kind is api.StateDictType.LOCAL_STATE_DICT:
        return
    if kind is api.StateDictType.FULL_STATE_DICT:
        copies = {}
        for member in unit.members:
            for name in member.names:
                value = destination[prefix + name]
                destination[prefix + name] = copies.setdefault(id(member), value.clone())
        return
    destination.pop(prefix + FLAT, None)
    local, places = unit.local, {id(member): (place, place + last - first) for member, first, last, place in unit.local_parts()}
    for member in unit.members:
        first, last = places.get(id(member), (0, 0))
        for name in member.names:
            destination[prefix + name] = local[first:last].clone()


# --- Loading
class LocalParts:
    """A hook before a module loads its state: takes this rank's part of a unit's parameters, which are there whole or in such parts."""

    def __init__(self, unit):
        self._unit = unit

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        unit = self._unit
        if unit.summoned or prefix + FLAT in state_dict:
            return
        flat = None if unit.plan.use_orig_params else unit.local.clone()
        parts = {id(member): part for member, *part in unit.local_parts()}
        for member in unit.members:
            found = [prefix + name for name in member.names if prefix + name in state_dict]
            if not found:
                if strict and flat is not None:
                    missing_keys.extend(prefix + name for name in member.names)
                continue
            first, last, place = parts.get(id(member), (0, 0, 0))
            value = state_dict[found[0]]
            if value.shape == member.shape:
                value = value.detach().reshape(-1)[first:last]
            elif tuple(value.shape) != (last - first,):
                error_msgs.append(
                    f"size mismatch for {found[0]}: copying a param with shape {value.shape} from checkpoint, the shape in current model "
                    f"is {member.shape}."
                )
                value = unit.local[place:place + last - first]
            for key in found:
                if flat is None:
                    state_dict[key] = value
                else:
                    del state_dict[key]
            if flat is not None:
                with no_grad():
                    flat[place:place + last - first].copy_(value)
        if flat is not None:
            state_dict[prefix + FLAT] = flat
