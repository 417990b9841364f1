"""In which order a stage goes through the parts of a batch."""

from tandem import _C


class _Schedule:
    """What the schedules share: parts of batches, losses, results."""

    def __init__(
        self, stage, n_microbatches, loss_fn=None, args_chunk_spec=None, kwargs_chunk_spec=None, output_merge_spec=None, scale_grads=True
    ):  # fmt: skip
        if args_chunk_spec is not None or kwargs_chunk_spec is not None or output_merge_spec is not None:
            raise NotImplementedError(f"{type(self).__name__}: tensors are cut and joined along their first dimension")
        if n_microbatches < 1:
            raise ValueError(f"{type(self).__name__}: n_microbatches must be 1 or more, not {n_microbatches}")
        self._stage, self._n_microbatches, self._loss_fn, self.scale_grads = stage, n_microbatches, loss_fn, scale_grads

    def step(self, *args, target=None, losses=None, return_outputs=True, **kwargs):
        """Forward and backward of one batch, which is given on the first rank; its target on the last, whose `losses` list gets those of the
        parts. The result on the last rank, else None."""
        train = self._loss_fn is not None
        outputs, found = self._go(args, kwargs, target, train)
        if train and self.scale_grads:
            self._stage.scale_grads(self._n_microbatches)
        self._give(losses, found)
        return self._merged(outputs) if return_outputs else None

    def eval(self, *args, target=None, losses=None, **kwargs):
        """Forward alone, without recording."""
        outputs, found = self._go(args, kwargs, target, False)
        self._give(losses, found)
        return self._merged(outputs)

    def _go(self, args, kwargs, target, train):
        stage, count = self._stage, self._n_microbatches
        parts = self._parts(args) if stage.is_first else [()] * count
        named = self._named_parts(kwargs)
        targets = self._parts((target,)) if stage.is_last and target is not None else [(None,)] * count
        outputs, losses = {}, {}

        def forward(number):
            outputs[number] = stage.forward(number, parts[number], named[number], train)
            if stage.is_last and self._loss_fn is not None and target is not None:
                result = outputs[number]
                losses[number] = self._loss_fn(result[0] if len(result) == 1 else result, targets[number][0])

        def backward(number):
            if stage.is_last and number not in losses:
                raise RuntimeError(f"{type(self).__name__}: the last stage has no loss: give step() the target")
            stage.backward(number, losses.get(number))

        for kind, number in self._order(train):
            (forward if kind == "F" else backward)(number)
        stage.finish()
        return outputs, [losses[number].detach() for number in sorted(losses)]

    def _give(self, losses, found):
        if losses is not None:
            losses.clear()
            losses.extend(found)

    def _merged(self, outputs):
        if not self._stage.is_last:
            return None
        columns = list(zip(*(outputs[number] for number in range(self._n_microbatches))))
        merged = tuple(_C.cat([one if one.dim() else one.unsqueeze(0) for one in column]) for column in columns)
        return merged[0] if len(merged) == 1 else merged

    def _parts(self, values):
        """For each microbatch its part of the tensors; other values are in all."""
        count = self._n_microbatches
        cut = []
        for value in values:
            if not isinstance(value, _C.Tensor):
                cut.append([value] * count)
                continue
            if value.size(0) < count:
                raise ValueError(f"{type(self).__name__}: a batch of {value.size(0)} cannot be cut into {count} microbatches")
            cut.append(value.tensor_split(count))
        return [tuple(column[number] for column in cut) for number in range(count)]

    def _named_parts(self, kwargs):
        return [dict(zip(kwargs, part)) for part in self._parts(tuple(kwargs.values()))]


class ScheduleGPipe(_Schedule):
    """All parts forward, then all backward (Huang et al. 2019)."""

    def _order(self, train):
        numbers = range(self._n_microbatches)
        return [("F", number) for number in numbers] + [("B", number) for number in numbers if train]


class Schedule1F1B(_Schedule):
    """After as many parts forward as there are stages from here on, one backward and one forward in turn: fewer of them wait in memory (Narayanan et al. 2019)."""

    def _order(self, train):
        count = self._n_microbatches
        if not train:
            return [("F", number) for number in range(count)]
        first = min(count, self._stage.num_stages - self._stage.stage_index)
        order = [("F", number) for number in range(first)]
        for number in range(count):
            order.append(("B", number))
            if number + first < count:
                order.append(("F", number + first))
        return order
