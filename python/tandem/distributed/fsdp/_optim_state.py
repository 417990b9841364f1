"""States of optimizers whose parameters are in shards: whole by the names of parameters, and a rank's part of such a state."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributed.fsdp._unit import FLAT, clean_name
from tandem.distributed.fsdp.api import OptimStateKeyType
from tandem.distributed.objects import all_gather_object


def _units(model):
    """The units in a module with the names of their places, without what wrappers add."""
    found, seen = [], set()
    for name, part in model.named_modules():
        sharded = part.__dict__.get("_sharded")
        unit = part.__dict__.get("_unit") if sharded is None else sharded.unit
        if unit is not None and id(unit) not in seen:
            seen.add(id(unit))
            found.append((clean_name(f"{name}.") if name else "", unit))
    return found


class _Names:
    """The names in the whole module of an optimizer's parameters: several of a flat one, one of others."""

    def __init__(self, model):
        self.units = _units(model)
        self.of_leaf, self.members = {}, {}
        for prefix, unit in self.units:
            for member in unit.members:
                name = prefix + member.name
                self.members[name] = (unit, member)
                leaf = unit.leaves[0] if member.leaf is None else member.leaf
                self.of_leaf.setdefault(id(leaf), []).append(name)
        for name, parameter in model.named_parameters():
            self.of_leaf.setdefault(id(parameter), [clean_name(name)])

    def of(self, parameter):
        """Error where the module has no such parameter."""
        if id(parameter) not in self.of_leaf:
            raise ValueError("the optimizer has a parameter that the model does not have: make it of model.parameters(), after wrapping")
        return self.of_leaf[id(parameter)]


def _numbered(optim):
    return dict(enumerate(parameter for group in optim.param_groups for parameter in group["params"]))


def _named_groups(names, optim, given):
    return [
        {**{key: value for key, value in given_group.items() if key != "params"},
         "params": [name for parameter in group["params"] for name in names.of(parameter)]}
        for group, given_group in zip(optim.param_groups, given["param_groups"])
    ]


def _place(unit, member):
    """Where this rank's elements of a member are in its part: first, last, and the first's number in the member."""
    for one, first, last, place in unit.local_parts():
        if one is member:
            return place, place + last - first, first
    return 0, 0, 0


def _unit_state(unit, state_of):
    """The state of each member that this rank has anything of: what is per element as this rank's part, else as it is."""
    found = {}
    for member in unit.members:
        leaf = unit.leaves[0] if member.leaf is None else member.leaf
        state = state_of.get(id(leaf))
        if not state:
            continue
        first, last, _ = _place(unit, member)
        found[member.name] = {
            key: (value[first:last] if member.leaf is None else value)
            if isinstance(value, _C.Tensor) and value.dim() == 1 and value.numel() == leaf.numel() else value
            for key, value in state.items()
        }
    return found


def _is_part(value, count):
    return isinstance(value, _C.Tensor) and value.dim() == 1 and value.numel() == count


def _whole_unit_state(unit, state_of):
    """The whole state of each member, on every rank."""
    mine = _unit_state(unit, state_of)
    facts = {}
    for member in unit.members:
        first, last, _ = _place(unit, member)
        if member.name in mine and last > first:
            facts[member.name] = {
                key: ("part", value.dtype) if _is_part(value, last - first) and key != "step" else ("value", value)
                for key, value in mine[member.name].items()
            }
    everyone = [None] * unit.handle.size()
    all_gather_object(everyone, facts, unit.plan.group)
    result = {}
    for member in unit.members:
        described = next((one[member.name] for one in everyone if member.name in one), None)
        if described is None:
            continue
        result[member.name] = state = {}
        first, last, _ = _place(unit, member)
        for key, (kind, what) in described.items():
            if kind == "value":
                state[key] = what
                continue
            part = _C.zeros(unit.share, dtype=what, device=unit.local.device)
            if last > first:
                part[first:last].copy_(mine[member.name][key])
            state[key] = unit.together(part)[member.offset:member.offset + member.numel].view(member.shape).clone()
    return result


def _given_state(optim, given):
    given = optim.state_dict() if given is None else given
    numbered = _numbered(optim)
    return given, {id(numbered[number]): state for number, state in given["state"].items()}


def _others(names, optim, state_of):
    """The states of parameters that are in no unit."""
    in_units = {id(leaf) for _, unit in names.units for leaf in unit.leaves}
    return {
        names.of(parameter)[0]: dict(state_of[id(parameter)]) for parameter in _numbered(optim).values()
        if id(parameter) not in in_units and id(parameter) in state_of
    }


def _on_cpu(states):
    return {
        name: {key: value.cpu() if isinstance(value, _C.Tensor) else value for key, value in state.items()}
        for name, state in states.items()
    }


@no_grad()
def full_state(model, optim, given, rank0_only, offload):
    """The whole state of an optimizer by the names of parameters."""
    names = _Names(model)
    given, state_of = _given_state(optim, given)
    result, is_first = {}, True
    for prefix, unit in names.units:
        is_first = unit.handle.rank() == 0
        for name, state in _whole_unit_state(unit, state_of).items():
            if is_first or not rank0_only:
                result[prefix + name] = state
    result.update(_others(names, optim, state_of))
    if rank0_only and not is_first:
        return {}
    return {"state": _on_cpu(result) if offload else result, "param_groups": _named_groups(names, optim, given)}


@no_grad()
def part_of_state(model, optim, given, offload):
    """This rank's part of the same; each entry is a vector of the elements that this rank has."""
    names = _Names(model)
    given, state_of = _given_state(optim, given)
    result = {prefix + name: state for prefix, unit in names.units for name, state in _unit_state(unit, state_of).items()}
    result.update(_others(names, optim, state_of))
    return {"state": _on_cpu(result) if offload else result, "param_groups": _named_groups(names, optim, given)}


@no_grad()
def to_load(model, optim, given):
    """This rank's part of such a state, as optim.load_state_dict takes it."""
    names, result = _Names(model), {}
    for number, parameter in _numbered(optim).items():
        mine = [name for name in names.of(parameter) if name in given["state"]]
        if not mine:
            continue
        if mine[0] not in names.members:
            result[number] = dict(given["state"][mine[0]])
            continue
        result[number] = state = {}
        for name in mine:
            unit, member = names.members[name]
            place, last, first = _place(unit, member)
            for key, value in given["state"][name].items():
                if isinstance(value, _C.Tensor) and value.shape == member.shape and key != "step":
                    value = value.reshape(-1)[first:first + last - place]
                elif not (_is_part(value, last - place) and key != "step"):
                    state.setdefault(key, value)
                    continue
                if member.leaf is not None:
                    state[key] = value.clone()
                    continue
                if key not in state:
                    state[key] = _C.zeros(parameter.numel(), dtype=value.dtype, device=parameter.device)
                state[key][place:last].copy_(value)
    groups, start = [], 0
    for group in optim.param_groups:
        of_group = {name for parameter in group["params"] for name in names.of(parameter)}
        saved = next((one for one in given["param_groups"] if of_group.intersection(one["params"])), {})
        options = {key: value for key, value in {**group, **saved}.items() if key != "params"}
        groups.append({**options, "params": list(range(start, start + len(group["params"])))})
        start += len(group["params"])
    return {"state": result, "param_groups": groups}


def rekey(given, kind, model):
    """A whole state with parameters called by their names, or by their numbers in the module's order."""
    names = whole_names(model)
    keys = dict(enumerate(names)) if kind is OptimStateKeyType.PARAM_NAME else {name: number for number, name in enumerate(names)}
    return {
        "state": {keys[key]: state for key, state in given["state"].items()},
        "param_groups": [{**group, "params": sorted(keys[key] for key in group["params"])} for group in given["param_groups"]],
    }


def whole_names(model):
    """The names of a module's parameters in the order that they have where none is in a unit."""
    inside = {}
    for _, unit in _units(model):
        for member in unit.members:
            for module, name in member.uses:
                inside.setdefault(id(module), {})[name] = member
    orders = {id(module): order for _, unit in _units(model) for module, order in unit.orders.values()}
    found, seen = [], set()
    for prefix, part in model.named_modules():
        own = inside.get(id(part), {})
        for name in orders.get(id(part), list(part._parameters)):
            key = id(own[name]) if name in own else id(part._parameters.get(name))
            if name == FLAT or key in seen or (name not in own and part._parameters.get(name) is None):
                continue
            seen.add(key)
            found.append(clean_name(f"{prefix}.{name}" if prefix else name))
    return found
