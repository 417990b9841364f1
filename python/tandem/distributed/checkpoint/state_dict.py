"""States of models and optimizers under the names that the plain model has, whatever wraps it: DDP, FSDP, fully_shard."""

from dataclasses import dataclass

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel, StateDictType
from tandem.distributed.fsdp._optim_state import full_state, to_load
from tandem.distributed.fsdp._unit import ShardParameter, clean_name
from tandem.distributed.groups import get_rank, is_initialized
from tandem.distributed.objects import broadcast_object_list
from tandem.nn.modules.module import Module, _IncompatibleKeys
from tandem.nn.parallel import DataParallel, DistributedDataParallel
from tandem.optim import Optimizer

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]


@dataclass
class StateDictOptions:
    """How states are given and taken.

    full_state_dict: tensors of sharded models whole - tandem gives them whole always. cpu_offload: tensors on the CPU; together with
    full_state_dict, on rank 0 only, and {} on the others. ignore_frozen_params: without parameters that are not trained.
    keep_submodule_prefixes: names of `submodules` in the whole model. strict: as of load_state_dict. broadcast_from_rank0: states are set
    from what rank 0 gives. flatten_optimizer_state_dict: a flat dictionary for optimizers too."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"

    def _is_for_rank_0(self):
        return self.full_state_dict and self.cpu_offload and is_initialized()


def _plain(model):
    """The model itself, without what replicates it."""
    return model.module if isinstance(model, (DistributedDataParallel, DataParallel)) else model


def _list(optimizers):
    return [optimizers] if isinstance(optimizers, Optimizer) else list(optimizers)


def _offloaded(value):
    if isinstance(value, _C.Tensor):
        return value.cpu()
    if isinstance(value, dict):
        return {key: _offloaded(one) for key, one in value.items()}
    return value


# --- Models
@no_grad()
def get_model_state_dict(model, *, submodules=None, options=None):
    """The model's state by the names of the plain model. Every rank calls it. submodules: a set, for the states of these only."""
    options, model = options or StateDictOptions(), _plain(model)
    with FullyShardedDataParallel.state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig()):
        state = model.state_dict()
    frozen = set()
    if options.ignore_frozen_params:
        frozen = {clean_name(name) for name, parameter in model.named_parameters(remove_duplicate=False) if not parameter.requires_grad}
    prefixes = None
    if submodules:
        prefixes = [clean_name(f"{name}.") for name, part in model.named_modules() if part in submodules]
    result = {}
    for name, value in state.items():
        name = clean_name(name)
        prefix = "" if prefixes is None else next((one for one in prefixes if name.startswith(one)), None)
        if prefix is None or name in frozen:
            continue
        value = value.full_tensor() if isinstance(value, ShardParameter) else value  # every rank: a collective
        result[name if options.keep_submodule_prefixes else name[len(prefix) :]] = _offloaded(value) if options.cpu_offload else value
    return {} if options._is_for_rank_0() and get_rank() != 0 else result


def set_model_state_dict(model, model_state_dict, *, options=None):
    """Gives the model the state; returns missing and unexpected keys. Every rank calls it."""
    options, model = options or StateDictOptions(), _plain(model)
    if any(isinstance(key, Module) for key in model_state_dict):
        names = {part: clean_name(f"{name}.") if name else "" for name, part in model.named_modules()}
        model_state_dict = {names[part] + name: value for part, state in model_state_dict.items() for name, value in state.items()}
    model_state_dict = _of_rank_0(model_state_dict, options)
    if not model_state_dict:
        return _IncompatibleKeys([], [])
    return model.load_state_dict(model_state_dict, strict=options.strict)


def _of_rank_0(state, options):
    """What rank 0 gives, where that is asked for."""
    if not options.broadcast_from_rank0 or not is_initialized():
        return state
    given = [_offloaded(dict(state)) if get_rank() == 0 else None]
    broadcast_object_list(given, src=0)
    return given[0]


# --- Optimizers
def _begin(optimizer):
    """Makes the optimizer's state, which is there after a first step only, by a step that changes nothing."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    if optimizer.state or any(parameter.grad is not None for parameter in parameters):
        return
    rates = [group["lr"] for group in optimizer.param_groups if "lr" in group]
    for parameter in parameters:
        if parameter.requires_grad:
            parameter.grad = _C.zeros_like(parameter)
    for group in optimizer.param_groups:
        if "lr" in group:
            group["lr"] = _C.zeros_like(group["lr"]) if isinstance(group["lr"], _C.Tensor) else 0.0
    optimizer.step(closure=None)
    for group, rate in zip((group for group in optimizer.param_groups if "lr" in group), rates):
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


def get_optimizer_state_dict(model, optimizers, *, submodules=None, options=None):
    """The states of one or more optimizers together, with parameters called by their names in the plain model. Every rank calls it.

    An optimizer that has made no step yet is given the state that it begins with."""
    options, model = options or StateDictOptions(), _plain(model)
    merged = {"state": {}, "param_groups": []}
    for optimizer in _list(optimizers):
        _begin(optimizer)
        one = full_state(model, optimizer, None, rank0_only=False, offload=options.cpu_offload)
        merged["state"].update(one["state"])
        merged["param_groups"].extend(one["param_groups"])
    if submodules:
        prefixes = tuple(clean_name(f"{name}.") for name, part in model.named_modules() if part in submodules)
        merged["state"] = {name: state for name, state in merged["state"].items() if name.startswith(prefixes)}
        for group in merged["param_groups"]:
            group["params"] = [name for name in group["params"] if name.startswith(prefixes)]
    if options._is_for_rank_0() and get_rank() != 0:
        return {}
    return _flat(merged) if options.flatten_optimizer_state_dict else merged


def _flat(state):
    result = {f"state.{name}.{key}": value for name, one in state["state"].items() for key, value in one.items()}
    for group in state["param_groups"]:
        for name in group["params"]:
            result.update({f"param_groups.{name}.{key}": value for key, value in group.items() if key != "params"})
    return result


def _nested(flat):
    """What _flat was made of; each parameter is in a group of its own, which is enough to load it."""
    states, groups = {}, {}
    for key, value in flat.items():
        kind, _, rest = key.partition(".")
        name, _, last = rest.rpartition(".")
        (states if kind == "state" else groups).setdefault(name, {})[last] = value
    return {"state": states, "param_groups": [{**options, "params": [name]} for name, options in groups.items()]}


@no_grad()
def set_optimizer_state_dict(model, optimizers, optim_state_dict, *, options=None):
    """Gives the optimizers the states that get_optimizer_state_dict has given. Every rank calls it."""
    options, model = options or StateDictOptions(), _plain(model)
    given = _of_rank_0(optim_state_dict, options)
    if given and "param_groups" not in given:
        given = _nested(given)
    for optimizer in _list(optimizers):
        if not given["param_groups"]:
            raise ValueError("loaded state dict has a different number of parameter groups")
        optimizer.load_state_dict(to_load(model, optimizer, given))


# --- Both
def get_state_dict(model, optimizers, *, submodules=None, options=None):
    """The state of the model and that of its optimizers. Every rank calls it."""
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options),
    )


def set_state_dict(model, optimizers, *, model_state_dict, optim_state_dict, options=None):
    """Gives model and optimizers their states; returns the model's missing and unexpected keys. Every rank calls it."""
    keys = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return keys
