"""A call of a unit's module: its parameters are gathered before it, given up behind it, and gathered again for its backward."""

from tandem import _C
from tandem._grad_mode import enable_grad
from tandem.autograd import Function
from tandem.nn.parallel.distributed import _tensors_in


class _Gathered(Function):
    """From a unit's leaves to its whole parameters; backward averages their gradients into the leaves'."""

    @staticmethod
    def forward(ctx, call, *leaves):
        ctx.call = call
        ctx.set_materialize_grads(False)
        unit = call.unit
        views = unit.whole_views()
        ctx.mark_non_differentiable(*(view for member, view in zip(unit.members, views) if not unit.trains(member)))
        return tuple(views)

    @staticmethod
    def backward(ctx, *gradients):
        if _C.is_grad_enabled():
            raise RuntimeError(
                "FullyShardedDataParallel: create_graph=True and parameters in shards do not go together, as the gradients' graph would "
                "use parameters that are given up already. Use DistributedDataParallel for gradients of gradients"
            )
        call = ctx.call
        call.leave_backward()
        reduced = call.unit.reduce(gradients)
        if call.unit.order is not None:
            call.unit.order.leave_backward(call.unit)
        return (None, *reduced)


class Call:
    """One call of a unit's module, from before its forward to the end of its backward."""

    def __init__(self, unit):
        self.unit = unit
        self._inputs = 0  # whose gradients will show that backward is through

    def put_parameters(self):
        """Gathers the unit, and makes its modules compute with the whole parameters."""
        self.unit.gather()
        self.unit.put(_Gathered.apply(self, *self.unit.leaves))

    def watch_inputs(self, inputs):
        """Backward has left the module when the gradients of its inputs are there."""
        inputs = [tensor for tensor in _tensors_in(inputs) if tensor.requires_grad and not tensor.is_leaf]
        self._inputs = len(inputs)
        for tensor in inputs:
            tensor.register_hook(self._meet_input)

    def watch_outputs(self, outputs):
        """Backward enters the module with a gradient of its outputs. False where none of them can bring one."""
        outputs = [tensor for tensor in _tensors_in(outputs) if tensor.requires_grad]
        for tensor in outputs:
            tensor.register_hook(self._meet_output)
        return bool(outputs)

    def _meet_output(self, gradient):
        unit = self.unit
        if self not in unit.active:
            unit.active.add(self)
            unit.gather()
            if unit.order is not None:
                unit.order.meet_backward(unit)
            # Checkpointed parts of the module compute again, and then use its parameters.
            with enable_grad():
                Call(unit).put_parameters()
            _C._queue_callback(lambda: end_backward(unit))

    def _meet_input(self, gradient):
        self._inputs -= 1
        if self._inputs == 0:
            self.leave_backward()

    def leave_backward(self):
        """Gives the parameters up unless another call's backward needs them."""
        unit = self.unit
        if self in unit.active:
            unit.active.discard(self)
            if not unit.active and not unit.depth:
                rest(unit, unit.reshard_after_backward)


def rest(unit, releases):
    """Puts the modules back as they are between calls."""
    unit.put_back()
    if releases:
        unit.release()


def end_backward(unit):
    """After a backward: gives up what calls whose parameters got no gradients have left."""
    unit.active.clear()
    if unit.order is not None:
        unit.order.end_backward()
    if not unit.depth:
        rest(unit, unit.reshard_after_backward)


def begin_forward(unit, inputs):
    """Before a call of the unit's module. What it gives is for end_forward."""
    unit.depth += 1
    if unit.depth > 1 or unit.summoned:
        return None
    call = Call(unit)
    try:
        if _C.is_grad_enabled():
            call.watch_inputs(inputs)
        call.put_parameters()
        if unit.order is not None:
            unit.order.meet_forward(unit)
    except BaseException:
        unit.depth -= 1
        raise
    return call


def end_forward(unit, call, outputs):
    """After a call of the unit's module, also where it has failed."""
    unit.depth -= 1
    if call is None:
        return
    records = _C.is_grad_enabled()
    seen = records and call.watch_outputs(outputs)
    if unit.active:
        return
    # Where no output can be seen, backward would find nothing: the parameters stay until it is over.
    unseen = records and not seen and not _tensors_in(outputs) and outputs is not None
    rest(unit, not unseen and (unit.reshard_after_forward or not records))
