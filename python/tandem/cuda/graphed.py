"""Modules and functions whose forward and backward are graphs: what make_graphed_callables makes."""

from tandem import _C, cuda
from tandem._grad_mode import enable_grad
from tandem.autograd import Function, grad
from tandem.cuda import graphs
from tandem.nn.modules.module import Module
from tandem.utils._pytree import tree_flatten, tree_unflatten

_NAME = "make_graphed_callables"


class _Captured:
    """Two graphs of one callable, and the tensors that they read and write."""

    def __init__(self, function, sample, allow_unused):
        self.function, self.allow_unused = function, allow_unused
        self.args = sample
        self.inputs, self._form = tree_flatten(sample)
        if not all(isinstance(tensor, _C.Tensor) for tensor in self.inputs):
            raise TypeError(
                "In the beta API, sample_args for each callable must contain only Tensors. Other types are not allowed."
            )
        for tensor in self.inputs:
            if not tensor.is_cuda:
                raise RuntimeError(f"{_NAME}: sample_args must be on a GPU, but one is on {tensor.device}")
        self.parameters, self._around = [], []
        if isinstance(function, Module):
            self.parameters = list(function.parameters())
            self._around = self.parameters + list(function.buffers())
        self.places = [tensor.data_ptr() for tensor in self._around]
        self.wanted = [tensor for tensor in self.inputs + self.parameters if tensor.requires_grad]
        self.forward, self.backward = graphs.CUDAGraph(), graphs.CUDAGraph()
        self.outputs, self.trained, self.numbers, self.output_gradients = [], [], [], []
        self.gradients = {}  # by the id of the tensor that wants it
        self.calls = 0

    def _compute(self):
        """The outputs: all of them, and those that have gradients."""
        outputs, form = tree_flatten(self.function(*self.args))
        return outputs, [output for output in outputs if output.requires_grad], form

    def _gradients(self, trained, output_gradients):
        return grad(trained, self.wanted, output_gradients, allow_unused=self.allow_unused)

    def warm_up(self):
        """What is made by first passes cannot be made in a capture."""
        _, trained, _ = self._compute()
        if trained and self.wanted:
            self._gradients(trained, [_C.empty_like(output) for output in trained])

    def capture_forward(self, pool, mode):
        """Records the forward."""
        with graphs.graph(self.forward, pool, capture_error_mode=mode):
            self.outputs, self.trained, self.form = self._compute()

    def capture_backward(self, pool, mode):
        """Records the backward, where there is one."""
        self.numbers = [number for number, output in enumerate(self.outputs) if output.requires_grad]
        if self.trained and self.wanted:
            self.output_gradients = [_C.zeros_like(output) for output in self.trained]
            with graphs.graph(self.backward, pool, capture_error_mode=mode):
                found = self._gradients(self.trained, self.output_gradients)
            self.gradients = {id(tensor): gradient for tensor, gradient in zip(self.wanted, found) if gradient is not None}
        self.outputs = [output.detach() for output in self.outputs]
        self.trained = None  # with them goes the graph of gradients

    def check(self, given):
        """Error where a call does not fit the graph."""
        if len(given) != len(self.inputs):
            raise RuntimeError(f"{_NAME}: the graph takes {len(self.inputs)} tensors, but was given {len(given)}")
        for number, (tensor, sample) in enumerate(zip(given, self.inputs)):
            if not isinstance(tensor, _C.Tensor):
                raise TypeError(f"{_NAME}: input {number} must be a Tensor, but is {type(tensor)}")
            if (tensor.shape, tensor.dtype, tensor.device) != (sample.shape, sample.dtype, sample.device):
                raise RuntimeError(
                    f"{_NAME}: input {number} has shape {tuple(tensor.shape)}, dtype {tensor.dtype} on {tensor.device}, but the graph was "
                    f"captured with {tuple(sample.shape)}, {sample.dtype} on {sample.device}: pad the batch, or capture another graph"
                )
            if tensor.requires_grad and not sample.requires_grad and _C.is_grad_enabled():
                raise RuntimeError(
                    f"{_NAME}: input {number} requires a gradient, but its sample did not: capture with a sample that does"
                )
        wanted = {id(tensor) for tensor in self.wanted}
        for parameter in self.parameters:
            if parameter.requires_grad and id(parameter) not in wanted:
                raise RuntimeError(
                    f"{_NAME}: a parameter of shape {tuple(parameter.shape)} requires a gradient now, but did not when the graph was "
                    "captured: capture another graph"
                )
        self.check_places()

    def check_places(self):
        """Error where parameters or buffers are elsewhere than at the capture: a graph reads addresses."""
        if [tensor.data_ptr() for tensor in self._around] != self.places:
            raise RuntimeError(
                f"{_NAME}: a parameter or buffer was given other memory since the graph was captured, as by to(). Change values in place, "
                "with copy_() or load_state_dict(), or capture another graph"
            )

    def call(self, args):
        """The callable's result, by replay."""
        given = tree_flatten(args)[0]
        self.check(given)
        return tree_unflatten(list(_Replay.apply(self, *given, *self.parameters)), self.form)


class _Replay(Function):
    """One call. Its results are the graph's own memory, and are overwritten by the next."""

    @staticmethod
    def forward(ctx, captured, *inputs):
        for tensor, static in zip(inputs, captured.inputs):
            if tensor.data_ptr() != static.data_ptr():
                static.detach().copy_(tensor)
        captured.forward.replay()
        captured.calls += 1
        ctx.captured, ctx.number = captured, captured.calls
        results = tuple(output.detach() for output in captured.outputs)
        trained = captured.numbers if captured.gradients else ()
        ctx.mark_non_differentiable(*(result for number, result in enumerate(results) if number not in trained))
        return results

    @staticmethod
    def backward(ctx, *gradients):
        captured = ctx.captured
        if _C.is_grad_enabled():
            raise RuntimeError(f"{_NAME}: a graph has no gradient of its gradient: call the callable itself with create_graph=True")
        if ctx.number != captured.calls:
            raise RuntimeError(f"{_NAME}: backward of a call that is not the last: what it computed is overwritten")
        captured.check_places()
        for static, number in zip(captured.output_gradients, captured.numbers):
            static.copy_(gradients[number])
        captured.backward.replay()
        # What becomes a parameter's gradient must not be the graph's own memory.
        found = [captured.gradients.get(id(tensor)) for tensor in captured.inputs + captured.parameters]
        return (None, *(None if gradient is None else gradient.clone() for gradient in found))


def _check_module(module):
    if module._backward_hooks or module._forward_hooks or module._forward_pre_hooks:
        raise AssertionError(
            "Modules must not have hooks registered at the time they are passed. However, registering hooks on modules after passing them "
            "through make_graphed_callables is allowed."
        )
    if any(buffer.requires_grad for buffer in module.buffers()):
        raise AssertionError(
            "In any :class:`~torch.nn.Module` passed to :func:`~make_graphed_callables`, only parameters may be trainable. All buffers "
            "must have ``requires_grad=False``."
        )


def _graphed(function, captured):
    """What stands in a callable's place: the module itself, while it is in the mode that was captured, or a new function."""
    if not isinstance(function, Module):
        def replayed(*args):
            return captured.call(args)
        return replayed
    training, forward = function.training, function.forward

    def forward_or_replay(*args):
        return captured.call(args) if function.training == training else forward(*args)

    function.forward = forward_or_replay
    return function


def make(callables, sample_args, num_warmup_iters, allow_unused_input, pool, capture_error_mode):
    """What make_graphed_callables gives."""
    is_one = not isinstance(callables, tuple)
    if is_one:
        callables, sample_args = (callables,), (sample_args,)
    for function in callables:
        if isinstance(function, Module):
            _check_module(function)
    captured = [_Captured(function, tuple(args), allow_unused_input) for function, args in zip(callables, sample_args)]
    pool = graphs.graph_pool_handle() if pool is None else pool
    with enable_grad():
        side = cuda.Stream()
        side.wait_stream(cuda.current_stream())
        try:
            with cuda.stream(side):
                for one in captured:
                    for _ in range(num_warmup_iters):
                        one.warm_up()
        finally:  # also where one fails: what it reads may be let go now, and its memory used again
            cuda.current_stream().wait_stream(side)
        cuda.synchronize()
        for one in captured:
            one.capture_forward(pool, capture_error_mode)
        # In the order of a backward through all of them, so that their memory is used again as it would be.
        for one in reversed(captured):
            one.capture_backward(pool, capture_error_mode)
    made = tuple(_graphed(function, one) for function, one in zip(callables, captured))
    return made[0] if is_one else made
