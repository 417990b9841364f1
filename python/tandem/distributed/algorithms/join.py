"""Join: training with ranks that have different numbers of batches. One that is done goes on taking part in what the others average."""

import warnings
from abc import ABC, abstractmethod

from tandem import _C
from tandem.distributed.groups import handle_of
from tandem.distributed.work import ReduceOp

_c = _C._distributed
_LABEL = "Join"
_MANY_ITERATIONS = 1000


class JoinHook:
    """What a rank that is done does for a Joinable: `main_hook` for each batch of the others, `post_hook` when all are done."""

    def main_hook(self):
        """Takes part in the collectives of one batch."""

    def post_hook(self, is_last_joiner):
        """After all batches of all ranks."""


class _JoinConfig:
    """What Join has told a Joinable."""

    def __init__(self, enable=False, throw_on_early_termination=False, is_first_joinable=False):
        self.enable = enable
        self.throw_on_early_termination = throw_on_early_termination
        self.is_first_joinable = is_first_joinable
        self.active_ranks = None  # while this rank is done: how many have another batch


class Joinable(ABC):
    """Something that calls collectives for each batch. It calls Join.notify_join_context before them."""

    _join_config = _JoinConfig()

    @abstractmethod
    def join_hook(self, **kwargs):
        """Its JoinHook. `kwargs` are those of Join."""

    @property
    @abstractmethod
    def join_device(self):
        """The device of its collectives."""

    @property
    @abstractmethod
    def join_process_group(self):
        """The ranks of its collectives."""


def _sum(group, device, value):
    """The sum of the ranks' numbers, as a tensor."""
    total = _C.full((1,), float(value), device=device)
    _c.all_reduce(handle_of(group), total, ReduceOp.SUM, False, _LABEL)
    return total


class Join:
    """with Join([ddp, optimizer]): the number of batches in this block may differ between ranks.

    With `throw_on_early_termination` all ranks get an error as soon as one is done."""

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._join_hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._enable = enable
        self._throw_on_early_termination = throw_on_early_termination
        for number, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, number == 0)
        if any(joinable.join_process_group is not joinables[0].join_process_group for joinable in joinables):
            raise ValueError("Using join context manager with multiple process groups")
        self._process_group, self._device = joinables[0].join_process_group, joinables[0].join_device
        self._rank = handle_of(self._process_group).rank()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if self._enable and kind is None:
                self._take_part()
        finally:
            for joinable in self._joinables:
                joinable._join_config = _JoinConfig()

    def _take_part(self):
        is_last, batches = True, 0
        while (active_ranks := _sum(self._process_group, self._device, 0).item()) > 0:
            for joinable in self._joinables:
                joinable._join_config.active_ranks = active_ranks
            if self._throw_on_early_termination:
                _sum(self._process_group, self._device, 1)
                raise RuntimeError(f"Rank {self._rank} exhausted all inputs.")
            is_last = False
            batches += 1
            if batches == _MANY_ITERATIONS:
                warnings.warn(
                    f"Detected uneven input skew of greater than {_MANY_ITERATIONS}. This means that rank {self._rank} has at least "
                    f"{_MANY_ITERATIONS} fewer inputs than other currently-active ranks. This level of skew could lead to performance "
                    "degradation during training.",
                    stacklevel=3,
                )
            for hook in self._join_hooks:
                hook.main_hook()
        for hook in self._join_hooks:
            hook.post_hook(is_last)

    @staticmethod
    def notify_join_context(joinable):
        """Tells the others that this rank has another batch. In a Join block, the first Joinable's call gives how many ranks have one.

        None elsewhere."""
        config = joinable._join_config
        if not config.enable or not config.is_first_joinable:
            return None
        group, device = joinable.join_process_group, joinable.join_device
        count = _sum(group, device, 1)
        if config.throw_on_early_termination and count.item() < handle_of(group).size():
            _sum(group, device, 0)
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return count
