"""What modules log: values of steps, and their means, sums or extremes over an epoch."""

import numbers

import tandem
from tandem import _C

_FOLD_AT = 64  # values that wait on a GPU until they are added up together
_OF_LOADER = "/dataloader_idx_"
_REDUCTIONS = ("mean", "sum", "min", "max")


def reduction_of(reduce_fx):
    """The name of a reduction that is given by name or as a function such as tandem.mean."""
    name = reduce_fx if isinstance(reduce_fx, str) else getattr(reduce_fx, "__name__", repr(reduce_fx))
    name = {"amin": "min", "amax": "max", "avg": "mean"}.get(name, name)
    if name not in _REDUCTIONS:
        raise ValueError(f"self.log(reduce_fx={reduce_fx!r}): give one of 'mean', 'sum', 'min' and 'max'")
    return name


def checked_value(name, value):
    """A number, or a tensor without dimensions and gradient, of what was logged."""
    if isinstance(value, _C.Tensor):
        if value.numel() != 1:
            raise ValueError(
                f"`self.log({name}, {value})` was called, but the tensor must have a single element. "
                f"You can try doing `self.log({name}, {value}.mean())`"
            )
        value = value.detach().reshape(())
        return float(value) if value.is_cpu else value.clone()  # a loss may be changed in place before it is read
    if isinstance(value, numbers.Number) or getattr(value, "ndim", None) == 0:
        return float(value)
    raise ValueError(
        f"`self.log({name}, {value!r})` was called, but `{type(value).__name__}` values cannot be logged: give a number or a tensor of one"
    )


class Figure:
    """One figure over an epoch. Adding waits for nothing, reading does."""

    def __init__(self, reduction):
        self.reduction = reduction
        self._total = None  # a number, or a tensor on the GPU that it is of
        self._weight = 0.0
        self._pending = []  # (tensor, weight) to be added

    def add(self, value, weight):
        """A value that counts `weight`, where the figure is a mean."""
        weight = weight if self.reduction == "mean" else 1.0
        self._weight += weight
        if isinstance(value, float):
            self._combine(value * weight)
            return
        self._pending.append((value, weight))
        if len(self._pending) >= _FOLD_AT:
            self._fold()

    def _combine(self, value):
        if self._total is None:
            self._total = value
        elif self.reduction in ("mean", "sum"):
            self._total = self._total + value
        elif isinstance(self._total, float) and isinstance(value, float):
            self._total = max(self._total, value) if self.reduction == "max" else min(self._total, value)
        else:
            pair = _C.stack([_C.as_tensor(one, dtype=_C.float64, device=_device_of(self._total, value)) for one in (self._total, value)])
            self._total = pair.max() if self.reduction == "max" else pair.min()

    def _fold(self):
        if not self._pending:
            return
        device = self._pending[0][0].device
        values = _C.stack([value.to(device=device, dtype=_C.float64) for value, _ in self._pending])
        if self.reduction in ("mean", "sum"):
            weights = _C.tensor([weight for _, weight in self._pending], dtype=_C.float64)
            self._combine((values * weights.to(device)).sum())
        else:
            self._combine(values.max() if self.reduction == "max" else values.min())
        self._pending = []

    def parts(self):
        """The total and the weight so far, as numbers."""
        self._fold()
        with tandem.ledger.allow("the Trainer's figures"):
            return float(self._total) if self._total is not None else 0.0, self._weight

    def state(self):
        """What a checkpoint holds."""
        total = self._total.cpu() if isinstance(self._total, _C.Tensor) else self._total
        return {
            "reduction": self.reduction,
            "total": total,
            "weight": self._weight,
            "pending": [(value.cpu(), weight) for value, weight in self._pending],
        }

    @classmethod
    def of_state(cls, state, device):
        """Goes on from what `state` gave."""
        made = cls(state["reduction"])
        made._total = state["total"].to(device) if isinstance(state["total"], _C.Tensor) else state["total"]
        made._weight = state["weight"]
        made._pending = [(value.to(device), weight) for value, weight in state["pending"]]
        return made


def _device_of(*values):
    return next(value.device for value in values if isinstance(value, _C.Tensor))


def combined(reduction, parts):
    """The figure of the totals and weights of several ranks."""
    totals = [total for total, weight in parts if weight > 0]
    if reduction == "mean":
        return sum(totals) / sum(weight for _, weight in parts)
    return {"sum": sum, "max": max, "min": min}[reduction](totals)


def _forked(name, part):
    """The name of a figure's steps or epochs, where it has both: "loss/dataloader_idx_0" -> "loss_step/dataloader_idx_0"."""
    plain, mark, number = name.partition(_OF_LOADER)
    return f"{plain}_{part}{mark}{number}"


class _Logged:
    """A name that was logged, where it goes, and its values."""

    def __init__(self, options, reduction):
        self.on_step, self.on_epoch, self.prog_bar, self.logger = options
        self.figure = Figure(reduction)
        self.step = []  # (value, weight) of the parts of the batch under way

    def step_value(self):
        """The value of this batch; several GPUs' parts of it together."""
        if len(self.step) == 1:
            return self.step[0][0]
        figure = Figure(self.figure.reduction)
        for value, weight in self.step:
            figure.add(value, weight)
        total, weight = figure.parts()
        return total / weight if figure.reduction == "mean" else total


class Results:
    """All that is logged during an epoch of training, or a pass over data to be judged by."""

    def __init__(self, device):
        self._device = device
        self._logged = {}
        self.in_batch = False
        self.part_size = 1  # samples of the part of a batch that is being computed
        self.loader = None  # the number of the loader, where there are several

    def log(self, name, value, options, reduction, weight):
        """Takes a value in."""
        value = checked_value(name, value)
        if isinstance(value, _C.Tensor) and value.device != self._device:
            value = value.to(self._device)
        entry = self._logged.get(name)
        if entry is None:
            entry = self._logged[name] = _Logged(options, reduction)
        if weight is None:
            weight = self.part_size if self.in_batch else 1
        if entry.on_epoch:
            entry.figure.add(value, float(weight))
        entry.step = [*entry.step, (value, float(weight))] if self.in_batch else [(value, float(weight))]
        return entry

    def begin_batch(self):
        """A batch begins: what is logged until `end_batch` is of it."""
        self.in_batch = True
        for entry in self._logged.values():
            entry.step = []

    def end_batch(self):
        """The batch has ended."""
        self.in_batch = False

    def step_values(self, of=lambda entry: True, forked=True):
        """The values of the batch that ended last, under the names that steps have, or with `forked` false under those that were logged."""
        chosen = [(name, entry) for name, entry in self._logged.items() if entry.on_step and entry.step and of(entry)]
        return {_forked(name, "step") if forked and entry.on_epoch else name: entry.step_value() for name, entry in chosen}

    def epoch_values(self, ranks):
        """The figures over all batches so far and all ranks, as numbers, under the names that epochs have."""
        mine = {name: (entry.figure.reduction, *entry.figure.parts()) for name, entry in self._logged.items() if entry.on_epoch}
        everyone = ranks.all_of(mine)
        values = {}
        for name, (reduction, _, _) in mine.items():
            parts = [theirs[name][1:] for theirs in everyone if name in theirs]
            if any(weight > 0 for _, weight in parts):
                values[name] = combined(reduction, parts)
        return values

    def shown_name(self, name):
        """The name that loggers and bars have for the figure of an epoch."""
        return _forked(name, "epoch") if self._logged[name].on_step and self._logged[name].on_epoch else name

    def entry(self, name):
        """Where a name goes."""
        return self._logged[name]

    def state(self):
        """What a checkpoint holds."""
        return {
            name: {"options": [entry.on_step, entry.on_epoch, entry.prog_bar, entry.logger], "figure": entry.figure.state()}
            for name, entry in self._logged.items()
        }

    def load_state(self, state):
        """Goes on from what `state` gave."""
        for name, saved in state.items():
            entry = self._logged[name] = _Logged(saved["options"], saved["figure"]["reduction"])
            entry.figure = Figure.of_state(saved["figure"], self._device)
