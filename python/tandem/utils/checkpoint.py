"""Activation checkpointing: backward computes again what forward did not keep."""
import contextlib
import enum
import itertools

import tandem
from tandem import _C

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "SelectiveCheckpointContext", "checkpoint", "checkpoint_sequential",
    "create_selective_checkpoint_contexts", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states",
]


class CheckpointError(RuntimeError):
    """What PyTorch raises where computing again gives other tensors than forward did."""


class CheckpointPolicy(enum.Enum):
    """What a policy of selective checkpointing says of an operation's result."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy is told: whether this is the computing again."""

    def __init__(self, *, is_recompute, op_output=None):
        self.is_recompute, self.op_output = is_recompute, op_output


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """Two empty contexts for `context_fn`: everything is computed again, which every policy allows but costs time that it may have saved."""
    if not (callable(policy_fn_or_list) or isinstance(policy_fn_or_list, list)):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return contextlib.nullcontext(), contextlib.nullcontext()


def set_checkpoint_debug_enabled(enabled):
    """A context, accepted: it changes nothing."""
    return contextlib.nullcontext()


def set_checkpoint_early_stop(enable):
    """A context, accepted: it changes nothing."""
    return contextlib.nullcontext()


def get_device_states(*args):
    """The numbers of the GPUs that these tensors lie on, each once, and the states of their random generators."""
    devices = sorted({arg.get_device() for arg in args if isinstance(arg, _C.Tensor) and arg.device.type != "cpu"})
    return devices, [tandem.cuda.get_rng_state(device) for device in devices]


def set_device_states(devices, states, *, device_type=None):
    """Sets the random generators of GPUs."""
    for device, state in zip(devices, states):
        tandem.cuda.set_rng_state(state, device)


def _rng_state(device):
    return device, tandem.get_rng_state() if device.type == "cpu" else tandem.cuda.get_rng_state(device)


def _set_rng_state(device, state):
    if device.type == "cpu":
        tandem.set_rng_state(state)
    else:
        tandem.cuda.set_rng_state(state, device)


class _Conditions:
    """The autocast and, where asked for, the random generators of forward, for backward."""

    def __init__(self, devices):
        self._rng_states = [_rng_state(device) for device in devices]
        self._autocast = [(kind, _C._autocast_dtype(kind), _C._autocast_enabled(kind)) for kind in ("cpu", "cuda")]

    @contextlib.contextmanager
    def again(self):
        """A scope in which they are as they were."""
        before = [_rng_state(device) for device, _ in self._rng_states]
        tokens = [_C._autocast_enter(*one, None) for one in self._autocast]
        try:
            for device, state in self._rng_states:
                _set_rng_state(device, state)
            yield
        finally:
            for device, state in before:
                _set_rng_state(device, state)
            for token in reversed(tokens):
                _C._autocast_exit(token)


def _tensors_in(value):
    """The tensors in nested tuples, lists and dicts."""
    if isinstance(value, _C.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [tensor for part in parts for tensor in _tensors_in(part)]


def _with_tensors(value, tensors):
    """`value` with its tensors replaced by those of the iterator."""
    if isinstance(value, _C.Tensor):
        return next(tensors)
    if isinstance(value, dict):
        return {key: _with_tensors(part, tensors) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_with_tensors(part, tensors) for part in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_with_tensors(part, tensors) for part in value)
    return value


def _detached(tensors):
    """The tensors without their history, so that a graph of theirs ends at them."""
    return [one.detach().requires_grad_(one.requires_grad) for one in tensors]


def _leaves_behind(tensors):
    """The leaves that the graph of the tensors leads to."""
    leaves, seen = [], set()
    nodes = [one.grad_fn for one in tensors if one.grad_fn is not None]
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        nodes += [following for following, _ in node.next_functions if following is not None]
    return leaves


class _Segment:
    """A call of a function whose graph is not kept: it can be called again with other tensors in the place of its arguments'."""

    def __init__(self, function, args, kwargs):
        self._function, self._args, self._kwargs = function, args, kwargs
        self.tensors = _tensors_in((args, kwargs))

    def run(self, tensors):
        """The function's result, and the tensors in it that require gradients."""
        args, kwargs = _with_tensors((self._args, self._kwargs), iter(tensors))
        result = self._function(*args, **kwargs)
        return result, [one for one in _tensors_in(result) if one.requires_grad]

    def forget_tensors(self):
        """For backward, which has them from elsewhere: what is saved there is checked for changes in place."""
        self.tensors = None
        self._args, self._kwargs = _with_tensors((self._args, self._kwargs), itertools.repeat(_C.empty(0)))


class _Recomputed(tandem.autograd.Function):
    """Gives `values`, results whose graph was dropped; backward makes it again and goes through it to arguments and parameters."""

    @staticmethod
    def forward(ctx, segment, conditions, count, values, *tensors):
        ctx.segment, ctx.conditions, ctx.count = segment, conditions, count
        ctx.save_for_backward(*tensors)
        ctx.parameters = list(tensors[count:])  # themselves: what hooks of saved tensors give back is not what the function uses
        return tuple(values)

    @staticmethod
    def backward(ctx, *gradients):
        arguments, parameters = _detached(ctx.saved_tensors[: ctx.count]), ctx.parameters
        with tandem.enable_grad(), ctx.conditions.again():
            _, results = ctx.segment.run(arguments)
        inputs = arguments + parameters
        found = tandem.autograd.grad(results, [one for one in inputs if one.requires_grad], gradients, allow_unused=True)
        found = iter(found)
        return (None, None, None, None, *(next(found) if one.requires_grad else None for one in inputs))


CheckpointFunction = _Recomputed


def checkpoint(
    function, *args, use_reentrant=None, preserve_rng_state=True, context_fn=None, determinism_check="default", debug=False,
    early_stop=True, **kwargs,
):
    """`function(*args, **kwargs)`, of which backward computes the inner tensors again instead of keeping them.

    With `preserve_rng_state` dropout draws the same again. The other arguments are accepted and change nothing.
    """
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    segment = _Segment(function, args, kwargs)
    tensors = segment.tensors
    conditions = _Conditions({_C.device("cpu")} | {one.device for one in tensors} if preserve_rng_state else ())
    # The graph of this run shows which parameters are used, and ends with this function.
    arguments = _detached(tensors)
    hooks = _C._set_saved_hooks(None)  # what is kept in it is dropped at once
    try:
        result, results = segment.run(arguments)
    finally:
        _C._set_saved_hooks(hooks)
    if not results:
        return result
    own = {id(one) for one in arguments}
    parameters = [leaf for leaf in _leaves_behind(results) if id(leaf) not in own]
    values = [one.detach() for one in results]
    segment.forget_tensors()
    values = iter(_Recomputed.apply(segment, conditions, len(tensors), values, *tensors, *parameters))
    return _with_tensors(result, (next(values) if one.requires_grad else one for one in _tensors_in(result)))


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Applies `functions`, a Sequential or a list, to `input` in `segments` parts, all but the last of them checkpointed."""
    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions)

    def part(start, end):
        def run(input):
            for function in functions[start:end]:
                input = function(input)
            return input

        return run

    size = len(functions) // segments
    for index in range(segments - 1):
        input = checkpoint(
            part(index * size, (index + 1) * size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
        )
    return part((segments - 1) * size, len(functions))(input)
