"""A unit: parameters that are gathered together. Each rank keeps a part of their elements, laid out one after another."""

from collections import OrderedDict
from dataclasses import dataclass

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributed.fsdp.api import ShardingStrategy
from tandem.distributed.groups import handle_of
from tandem.nn.parameter import Parameter

_c = _C._distributed
WRAPPED = "_fsdp_wrapped_module"
_CHECKPOINTED = "_checkpoint_wrapped_module"
FLAT = "_flat_param"
_ALIGNMENT = 16  # bytes, where each parameter is a leaf of its own


class _Part(Parameter):
    """Elements that this rank keeps. A copy, or what is read from a file, is a Parameter of its own."""

    def __reduce_ex__(self, protocol):
        return Parameter(self.detach(), self.requires_grad).__reduce_ex__(protocol)

    def __deepcopy__(self, memo):
        return memo.setdefault(id(self), Parameter(self.detach().clone(), self.requires_grad))


class FlatParameter(_Part):
    """This rank's part of all parameters of a unit, as one vector."""


class ShardParameter(_Part):
    """This rank's part of one parameter, as a vector, which may be empty."""

    def full_tensor(self):
        """The whole parameter. Every rank calls it."""
        return self._unit.whole_of(self._member)


@dataclass
class Plan:
    """How units are divided and computed."""

    group: object
    strategy: ShardingStrategy
    device: object  # where they compute
    param_dtype: object = None
    reduce_dtype: object = None
    keep_low_precision_grads: bool = False
    offload: bool = False
    use_orig_params: bool = False


class Member:
    """A parameter of a unit: its names, the modules that use it, and its place among the unit's elements."""

    def __init__(self, name, parameter):
        self.name = name
        self.names = [name]
        self.parameter = parameter  # as it was, until it is divided
        self.requires_grad = parameter.requires_grad
        self.shape, self.numel = parameter.shape, parameter.numel()
        self.uses = []  # modules and the names of their attributes
        self.offset = 0
        self.leaf = None  # its own part, where it is not in a flat parameter


def clean_name(name):
    """A name without what wrappers add to it."""
    return name.replace(f"{WRAPPED}.", "").replace(f"{_CHECKPOINTED}.", "")


def find_members(module, ignored):
    """The parameters below `module` that are in no unit yet, without the ignored ones. One that several modules use is there once."""
    found = OrderedDict()

    def visit(part, prefix):
        for name, parameter in part._parameters.items():
            if parameter is None or parameter in ignored or isinstance(parameter, (FlatParameter, ShardParameter)):
                continue
            if parameter in found:
                found[parameter].names.append(prefix + name)
            else:
                found[parameter] = Member(prefix + name, parameter)
            found[parameter].uses.append((part, name))
        for name, child in part._modules.items():
            if child is not None:
                visit(child, prefix if name in (WRAPPED, _CHECKPOINTED) else f"{prefix}{name}.")

    visit(module, "")
    return list(found.values())


class Unit:
    """Parameters of `module` and how they are together and apart.

    Between uses the memory of the whole is given back: views of it that backward keeps find the values again once it is gathered, at
    another address."""

    def __init__(self, module, label, members, plan):
        self.module, self.label, self.members, self.plan = module, label, members, plan
        self.handle = handle_of(plan.group)
        self._check()
        self.divided = plan.strategy is not ShardingStrategy.NO_SHARD
        self.parts = self.handle.size() if self.divided else 1
        self.dtype = members[0].parameter.dtype
        self.compute_dtype = plan.param_dtype if plan.param_dtype is not None else self.dtype
        alignment = max(1, _ALIGNMENT // members[0].parameter.element_size()) if plan.use_orig_params else 1
        numels = [member.numel for member in members]
        self.shards = _C._parallel.FlatShards(label, numels, alignment, self.handle, self.divided, self.compute_dtype, plan.device)
        self.share = self.shards.share
        for member, offset in zip(members, self.shards.offsets):
            member.offset = offset
        self._local_parts = [(members[number], first, last, place) for number, first, last, place in self.shards.parts]
        self.keeps_whole = self.parts == 1 and self.compute_dtype == self.dtype and not plan.offload
        self.reshard_after_forward = plan.strategy is ShardingStrategy.FULL_SHARD
        self.reshard_after_backward = True
        self.syncs = True  # whether backward averages gradients
        self.divide_factor = None  # what their sum is divided by; else the number of ranks
        self.summoned = False
        self.order = None  # of the units below the root, once that is known
        self.forward_prefetch = self.backward_prefetch = None  # units to gather while this one computes; None: the next in order
        self.prefetches_late = False  # in backward: when this unit is through, so that one is there at a time
        self.unsynced = None  # whole gradients of this rank alone
        self.active = set()  # calls whose backward has begun
        self.depth = 0  # of calls that are under way
        self._divide()

    def _check(self):
        dtypes = {member.parameter.dtype for member in self.members}
        if len(dtypes) > 1:
            first, second = sorted(map(str, dtypes))[:2]
            raise ValueError(f"Must flatten tensors with uniform dtype but got {first} and {second}")
        if not self.plan.use_orig_params and len({member.requires_grad for member in self.members}) > 1:
            raise ValueError("Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`")
        names = [member.name for member in self.members]
        _c.check_alike(self.handle, names, [member.parameter for member in self.members], "parameter")

    # --- Dividing
    def _divide(self):
        """Takes this rank's part of each parameter, and puts it where the parameters were."""
        plan = self.plan
        device = _C.device("cpu") if plan.offload else plan.device
        with no_grad():
            local = _C.zeros(self.share, dtype=self.dtype, device=device)
            for member, first, last, place in self.local_parts():
                local[place:place + last - first].copy_(member.parameter.detach().reshape(-1)[first:last])
        self.whole = local if self.keeps_whole else self.shards.whole
        self.orders = {id(module): (module, list(module._parameters)) for member in self.members for module, _ in member.uses}
        self._local = local
        if plan.use_orig_params:
            places = {id(member): (place, place + last - first) for member, first, last, place in self.local_parts()}
            for member in self.members:
                first, last = places.get(id(member), (0, 0))
                member.leaf = ShardParameter(local[first:last], member.requires_grad)
                member.leaf._member = member
            self.leaves = [member.leaf for member in self.members]
        else:
            self.leaves = [FlatParameter(local, self.members[0].requires_grad)]
        for leaf in self.leaves:
            leaf._unit = self
        for member in self.members:
            for module, name in member.uses:
                if plan.use_orig_params:
                    module._parameters[name] = member.leaf
                else:
                    del module._parameters[name]
            member.parameter = None
        if not plan.use_orig_params:
            self.module._parameters[FLAT] = self.leaves[0]
        self._resting = self.whole_views()  # have sizes, but no values
        self.put_back()

    def local_parts(self):
        """Of each parameter that this rank has elements of: the first and the one behind the last, and where they are in this rank's part."""
        return self._local_parts

    @property
    def local(self):
        """This rank's part, without history."""
        return self._local if self.plan.use_orig_params else self.leaves[0].detach()

    def trains(self, member):
        """Whether a parameter requires a gradient now."""
        return (self.leaves[0] if member.leaf is None else member.leaf).requires_grad

    # --- What the modules see
    def put(self, tensors):
        """Makes the modules compute with these, one for each parameter."""
        for member, tensor in zip(self.members, tensors):
            for module, name in member.uses:
                module.__dict__[name] = tensor

    def put_back(self):
        """Makes the modules show what they have between calls: tensors without values, or this rank's parts."""
        if not self.plan.use_orig_params:
            self.put(self._resting)
            return
        for member in self.members:
            for module, name in member.uses:
                module.__dict__.pop(name, None)

    def views_of(self, flat):
        """A view for each parameter of a tensor that has the elements of all."""
        return [flat[member.offset:member.offset + member.numel].view(member.shape) for member in self.members]

    def whole_views(self):
        """The same of the whole, where it is gathered."""
        return self.views_of(self.whole)

    # --- Gathering
    def together(self, local=None):
        """A new tensor with the elements of all ranks: of the shards, or of as many others."""
        local = self.local if local is None else local
        if self.parts == 1:
            return local
        out = _C.empty(local.numel() * self.parts, dtype=local.dtype, device=local.device)
        _c.all_gather_into_tensor(self.handle, out, local, False, self.label)
        return out

    def begin_gather(self):
        """Begins to bring the whole together, beside other work; nothing where it is there or on its way, or where nothing travels."""
        if not self.keeps_whole and not self.summoned:
            self.shards.begin_gather(self.local)

    def drop_coming(self):
        """Gives up what was gathered ahead."""
        self.shards.drop()

    def gather(self):
        """Makes the whole have its values."""
        if not self.keeps_whole:
            self.shards.gather(self.local)

    def release(self):
        """Gives the memory of the whole back."""
        self.shards.release()

    def whole_of(self, member):
        """A copy of one whole parameter. Every rank calls it."""
        with no_grad():
            return self.together()[member.offset:member.offset + member.numel].view(member.shape).clone()

    # --- Gradients
    def reduce(self, gradients):
        """Averages whole gradients, one for each parameter or None, over the ranks; gives the leaves' gradients."""
        nothing = [None] * len(self.leaves)
        with no_grad():
            dtype = self.plan.reduce_dtype if self.plan.reduce_dtype is not None else self.compute_dtype
            whole = _C.zeros(self.share * self.parts, dtype=dtype, device=self.plan.device)
            for member, gradient in zip(self.members, gradients):
                if gradient is not None:
                    whole[member.offset:member.offset + member.numel].copy_(gradient.detach().reshape(-1))
            if self.unsynced is not None:
                whole.add_(self.unsynced)
                self.unsynced = None
            if not self.syncs:
                self.unsynced = whole
                return nothing
            shard = self.shards.average(whole)
            if self.divide_factor is not None:
                shard.mul_(self.handle.size() / self.divide_factor)
            shard = shard.to(device=self._local.device, dtype=dtype if self.plan.keep_low_precision_grads else self.dtype)
            if not self.plan.use_orig_params:
                return [shard]
            parts = {id(member): shard[place:place + last - first] for member, first, last, place in self.local_parts()}
            return [parts.get(id(member)) if self.trains(member) else None for member in self.members]
