"""An optimizer each of whose ranks keeps the state of a part of the parameters, and updates that part for all."""

from tandem import _C
from tandem.distributed.algorithms.join import Join, Joinable, JoinHook
from tandem.distributed.collectives import all_reduce, broadcast
from tandem.distributed.groups import _get_default_group, get_global_rank, handle_of
from tandem.distributed.objects import broadcast_object_list, gather_object
from tandem.optim.optimizer import Optimizer


class _TakePart(JoinHook):
    """What a rank without another batch does: it steps its part by the gradients of those that have one."""

    def __init__(self, optimizer):
        self._optimizer = optimizer

    def main_hook(self):
        """As a step."""
        self._optimizer._take_gradients(False)
        self._optimizer._step_and_share()


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """Divides an optimizer's work and state among the ranks of a group, which have the same parameters and gradients.

    A step updates this rank's parameters by an `optimizer_class` of their own, and takes the others' from their ranks.
    `parameters_as_bucket_view` is accepted."""

    def __init__(self, params, optimizer_class, process_group=None, parameters_as_bucket_view=False, overlap_with_ddp=False, **defaults):
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: overlap_with_ddp is not supported")
        self.process_group = _get_default_group() if process_group is None else process_group
        handle = handle_of(self.process_group)
        self.rank, self.world_size = handle.rank(), handle.size()
        self._constructor, self._defaults = optimizer_class, defaults
        self.optim = None
        self._all_states = None
        super().__init__(params, defaults)
        self._divide()

    def _all_parameters(self):
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def _divide(self):
        """Gives each parameter, the largest first, to the rank that has least; and makes this rank's optimizer."""
        totals = [0] * self.world_size
        self._owner = {}  # of a parameter, by its number
        numbered = list(enumerate(self._all_parameters()))
        for number, parameter in sorted(numbered, key=lambda one: -one[1].numel()):
            owner = totals.index(min(totals))
            totals[owner] += parameter.numel()
            self._owner[number] = owner
        groups, number = [], 0
        for group in self.param_groups:
            mine = []
            for parameter in group["params"]:
                if self._owner[number] == self.rank:
                    mine.append(parameter)
                number += 1
            groups.append({**group, "params": mine})
        self.optim = self._constructor(groups, **self._defaults)
        # What the optimizer's class has set besides: schedulers read and write it here.
        for group, local in zip(self.param_groups, self.optim.param_groups):
            for name, value in local.items():
                group.setdefault(name, value)

    def add_param_group(self, param_group):
        """Adds parameters, with options of their own. State of the others stays where their rank does not change."""
        super().add_param_group(param_group)
        if self.optim is not None:
            state = dict(self.optim.state)
            self._divide()
            mine = {id(parameter) for group in self.optim.param_groups for parameter in group["params"]}
            self.optim.state.update({parameter: value for parameter, value in state.items() if id(parameter) in mine})

    def join_hook(self, **kwargs):
        """What Join calls on a rank that is done. DistributedDataParallel comes before it in Join's list."""
        return _TakePart(self)

    @property
    def join_device(self):
        """Where the parameters are."""
        return self._all_parameters()[0].device

    @property
    def join_process_group(self):
        """The ranks that share the state."""
        return self.process_group

    def _sync_options(self):
        for group, local in zip(self.param_groups, self.optim.param_groups):
            for name, value in group.items():
                if name != "params":
                    local[name] = value

    def step(self, closure=None, **kwargs):
        """Updates this rank's parameters, then takes the others' from their ranks. Gives what `closure` gave."""
        Join.notify_join_context(self)
        if not self._join_config.enable:
            return self._step_and_share(closure, **kwargs)
        loss = None if closure is None else closure()
        self._take_gradients(True)
        self._step_and_share(**kwargs)
        return loss

    def _step_and_share(self, closure=None, **kwargs):
        self._sync_options()
        loss = self.optim.step(**kwargs) if closure is None else self.optim.step(closure, **kwargs)
        works = [
            broadcast(parameter.data, get_global_rank(self.process_group, self._owner[number]), self.process_group, async_op=True)
            for number, parameter in enumerate(self._all_parameters())
        ]
        for work in works:
            work.wait()
        return loss

    def _take_gradients(self, is_active):
        """In Join: ranks without another batch take their parameters' gradients, as clipping or a scaler left them, and the learning rate.

        Every rank calls it, once for each step."""
        flags = _C.zeros(self.world_size, device=self.join_device)
        flags[self.rank] = float(is_active)
        all_reduce(flags, group=self.process_group)
        active = flags.tolist()
        parameters = self._all_parameters()
        numbers = [number for number in range(len(parameters)) if not active[self._owner[number]]]
        if not numbers:
            return
        source = active.index(1)
        sent = [None, None]
        if self.rank == source:
            gradients = [parameters[number].grad for number in numbers]
            sent = [
                [{name: value for name, value in group.items() if name != "params"} for group in self.param_groups],
                [None if gradient is None else gradient.detach().cpu() for gradient in gradients],
            ]
        broadcast_object_list(sent, get_global_rank(self.process_group, source), self.process_group)
        if not is_active:
            for group, options in zip(self.param_groups, sent[0]):
                group.update(options)
            for number, gradient in zip(numbers, sent[1]):
                parameters[number].grad = None if gradient is None else gradient.to(parameters[number].device)

    def _local_state(self):
        """This rank's states by the numbers that the parameters have in all."""
        numbers = {id(parameter): number for number, parameter in enumerate(self._all_parameters())}
        return {
            numbers[id(parameter)]: {name: value.cpu() if isinstance(value, _C.Tensor) else value for name, value in state.items()}
            for parameter, state in self.optim.state.items()
        }

    def consolidate_state_dict(self, to=0):
        """Collects all ranks' states on rank `to`, for state_dict there. Every rank of the group calls it."""
        self._sync_options()
        gathered = [None] * self.world_size if self.rank == to else None
        gather_object(self._local_state(), gathered, get_global_rank(self.process_group, to), self.process_group)
        self._all_states = gathered and {number: state for part in gathered for number, state in part.items()}

    def state_dict(self):
        """The whole optimizer's state, as one that is not divided has it; on the rank that it was consolidated on."""
        if self._all_states is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict(to="
                f"{self.rank})` on all ranks beforehand if you meant to save the global state."
            )
        self._sync_options()
        groups, first = [], 0
        for group in self.param_groups:
            count = len(group["params"])
            groups.append({**group, "params": list(range(first, first + count))})
            first += count
        return {"state": {number: self._all_states[number] for number in sorted(self._all_states)}, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Takes this rank's part of a whole optimizer's state."""
        for group, saved in zip(self.param_groups, state_dict["param_groups"]):
            if len(group["params"]) != len(saved["params"]):
                raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
            group.update({name: value for name, value in saved.items() if name != "params"})
        mine = [number for number in range(len(self._all_parameters())) if self._owner[number] == self.rank]
        groups, first = [], 0
        for local in self.optim.param_groups:
            count = len(local["params"])
            groups.append({**local, "params": list(range(first, first + count))})
            first += count
        state = {new: state_dict["state"][number] for new, number in enumerate(mine) if number in state_dict["state"]}
        self.optim.load_state_dict({"state": state, "param_groups": groups})
        self._sync_options()
