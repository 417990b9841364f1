"""One stage of a pipeline: what it does with a part of a batch, forward and backward, and what it sends to its neighbours."""

import tandem
from tandem import _C
from tandem import distributed as dist


def _tuple(value):
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


class PipelineStage:
    """The part of a model that one rank runs: `stage_index` of `num_stages`, which is the rank in the group too. Inputs and outputs are tensors.

    Sizes need not be known before: input_args and output_args are accepted.
    """

    def __init__(
        self, submodule, stage_index, num_stages, device, input_args=None, output_args=None, output_grads=None, input_grads=None, group=None,
        dw_builder=None, get_mesh=None,
    ):  # fmt: skip
        if not 0 <= stage_index < num_stages:
            raise ValueError(f"Stage index {stage_index} is out of range of {num_stages}")
        if num_stages != dist.get_world_size(group) or stage_index != dist.get_rank(group):
            raise ValueError(
                f"PipelineStage: stage {stage_index} of {num_stages} is for rank {stage_index} of {num_stages} ranks, and this is rank "
                f"{dist.get_rank(group)} of {dist.get_world_size(group)}"
            )
        self.submod = self.submodule = submodule
        self.stage_index, self.num_stages = stage_index, num_stages
        self.device = _C.device(device) if isinstance(device, str) else device
        self.group = group
        self._kept = {}  # by numbers of microbatches: inputs and outputs, until backward has used them
        self._sent = []  # gradients on their way

    @property
    def is_first(self):
        """Whether the batch comes in here."""
        return self.stage_index == 0

    @property
    def is_last(self):
        """Whether the result comes out here."""
        return self.stage_index == self.num_stages - 1

    def forward(self, number, args, kwargs, train):
        """The outputs for a microbatch: of `args` on the first stage, elsewhere of what the stage before sends. They go to the next one."""
        inputs = args if self.is_first else self._receive(train)
        with tandem.set_grad_enabled(train):
            outputs = _tuple(self.submod(*inputs, **kwargs))
        if train:
            self._kept[number] = inputs, outputs
        if not self.is_last:
            self._send(outputs)
        return outputs

    def backward(self, number, loss=None):
        """Backward of a microbatch: of its loss on the last stage, elsewhere of the gradients that the next one sends."""
        inputs, outputs = self._kept.pop(number)
        if self.is_last:
            loss.backward()
        else:
            wanted = [out for out in outputs if out.requires_grad]
            grads = [_C.empty(out.shape, dtype=out.dtype, device=out.device) for out in wanted]
            for grad in grads:
                dist.recv(grad, group=self.group, group_src=self.stage_index + 1)
            if wanted:
                tandem.autograd.backward(wanted, grads)
        if self.is_first:
            return
        for one in inputs:
            if one.requires_grad:
                grad = _C.zeros_like(one).detach() if one.grad is None else one.grad.contiguous()
                self._sent.append((dist.isend(grad, group=self.group, group_dst=self.stage_index - 1), grad))

    def finish(self):
        """Waits until what was sent has arrived."""
        for work, _ in self._sent:
            work.wait()
        self._sent.clear()

    def scale_grads(self, grad_scale_factor):
        """Divides the gradients by a number."""
        if grad_scale_factor != 1:
            for parameter in self.submod.parameters():
                if parameter.grad is not None:
                    parameter.grad.div_(grad_scale_factor)

    def _send(self, outputs):
        facts = [(tuple(out.shape), repr(out.dtype).rpartition(".")[2], out.requires_grad) for out in outputs]
        dist.send_object_list([facts], group=self.group, group_dst=self.stage_index + 1)
        for out in outputs:
            dist.send(out.detach().contiguous(), group=self.group, group_dst=self.stage_index + 1)

    def _receive(self, train):
        facts = [None]
        dist.recv_object_list(facts, group=self.group, group_src=self.stage_index - 1)
        inputs = []
        for shape, dtype, recorded in facts[0]:
            one = _C.empty(shape, dtype=getattr(_C, dtype), device=self.device)
            dist.recv(one, group=self.group, group_src=self.stage_index - 1)
            inputs.append(one.requires_grad_(recorded and train))
        return tuple(inputs)
