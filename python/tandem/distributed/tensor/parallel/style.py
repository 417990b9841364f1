"""The styles in which layers share their work: what each rank holds of the weights, and what moves between the ranks."""

from tandem import _C, nn
from tandem import distributed as dist
from tandem.distributed.tensor import Partial, Placement, Replicate, Shard, _moves
from tandem.nn import functional as F


class ParallelStyle:
    """Base of the styles: _apply(module, device_mesh) changes the module and gives it."""

    src_data_rank = 0

    def _apply(self, module, device_mesh):
        raise NotImplementedError

    def _shared(self, parameter, group):
        """The values of a parameter that all ranks begin with."""
        values = parameter.detach().clone()
        if self.src_data_rank is not None:
            dist.broadcast(values, group=group, group_src=self.src_data_rank)
        return values

    def _divide(self, module, group, dims):
        """Leaves this rank its part of the parameters along the dimensions that `dims` has for their names, and all of the others."""
        for name, parameter in list(module.named_parameters(recurse=False)):
            values = self._shared(parameter, group)
            dim = dims.get(name)
            values = values if dim is None else _moves.part_of(values, dim, group)
            setattr(module, name, nn.Parameter(values, requires_grad=parameter.requires_grad))


def _refuse(style, module):
    raise NotImplementedError(f"{type(style).__name__} currently only supports nn.Linear and nn.Embedding, not {type(module).__name__}!")


class _DividedLayer(ParallelStyle):
    """Base of the styles that give each rank a part of one layer; _usual_layouts are those of its input and output."""

    def __init__(self, *, input_layouts=None, output_layouts=None, use_local_output=True):
        before, after = self._usual_layouts
        self.input_layouts = (input_layouts or before,)
        self.output_layouts = (output_layouts or after,)
        self.use_local_output = use_local_output

    def __repr__(self):
        return f"{type(self).__name__}(input_layouts={self.input_layouts}, output_layouts={self.output_layouts}, use_local_output={self.use_local_output})"


class ColwiseParallel(_DividedLayer):
    """A Linear whose ranks have parts of its outputs, or an Embedding whose ranks have parts of its rows' elements."""

    _usual_layouts = Replicate(), Shard(-1)

    def _apply(self, module, device_mesh):
        group, before, after = device_mesh.get_group(), self.input_layouts[0], self.output_layouts[0]
        if isinstance(module, nn.Linear):
            self._divide(module, group, {"weight": 0, "bias": 0})
        elif isinstance(module, nn.Embedding):
            self._divide(module, group, {"weight": 1})
        else:
            _refuse(self, module)
        own = module.forward

        def forward(input):
            if isinstance(before, Shard):
                input = _moves.gathered_for_parts(input, before.dim, group) if input.is_floating_point() else _moves.whole(input, before.dim, group)
            elif input.is_floating_point():
                input = _moves.copied(input, 0, group)
            return _moves.moved(own(input), Shard(-1), after, group)

        module.forward = forward
        return module


class RowwiseParallel(_DividedLayer):
    """A Linear whose ranks have parts of its inputs and add up what they compute, or an Embedding whose ranks have some of its rows each."""

    _usual_layouts = Shard(-1), Replicate()

    def _apply(self, module, device_mesh):
        group, before, after = device_mesh.get_group(), self.input_layouts[0], self.output_layouts[0]
        if isinstance(module, nn.Linear):
            self._divide(module, group, {"weight": 1})
            compute = self._linear(module, group, before, after)
        elif isinstance(module, nn.Embedding):
            self._divide(module, group, {"weight": 0})
            compute = self._embedding(module, group, before)
        else:
            _refuse(self, module)

        def forward(input):
            return compute(input, lambda result: _moves.moved(result, Partial(), after, group))

        module.forward = forward
        return module

    def _linear(self, module, group, before, after):
        def compute(input, finish):
            result = finish(F.linear(_moves.moved(input, before, Shard(-1), group), module.weight))
            if module.bias is None:
                return result
            # Where ranks have parts of the result, each adds a part of the bias's gradient.
            return result + (_moves.copied(module.bias, 0, group) if isinstance(after, Shard) else module.bias)

        return compute

    def _embedding(self, module, group, before):
        rows = module.weight.size(0)
        first = rows * dist.get_rank(group)

        def compute(input, finish):
            if isinstance(before, Shard):
                input = _moves.whole(input, before.dim, group)
            here = input - first
            elsewhere = (here < 0) | (here >= rows)
            found = F.embedding(here.masked_fill(elsewhere, 0), module.weight)
            return finish(found.masked_fill(elsewhere.unsqueeze(-1), 0))

        return compute


class SequenceParallel(ParallelStyle):
    """A layer such as LayerNorm whose ranks have parts of the sequence, and all have its weights: their gradients add up."""

    def __init__(self, *, sequence_dim=1, use_local_output=False):
        self.sequence_dim = sequence_dim
        self.use_local_output = use_local_output

    def __repr__(self):
        return f"SequenceParallel(sequence_dim={self.sequence_dim}, use_local_output={self.use_local_output})"

    def _apply(self, module, device_mesh):
        group = device_mesh.get_group()
        self._divide(module, group, {})
        plain = type(module).forward

        def forward(*args, **kwargs):
            parameters = dict(module.named_parameters(recurse=False))
            for name, parameter in parameters.items():
                module.__dict__[name] = _moves.copied(parameter, 0, group)  # what forward reads
            try:
                return plain(module, *args, **kwargs)
            finally:
                module.__dict__.update(parameters)

        module.forward = forward
        return module


def _several(layouts):
    return (layouts,) if layouts is None or isinstance(layouts, Placement) else tuple(layouts)


def _change(values, before, after, group):
    """Tensors with other placements, each by its own."""
    if len(before) != len(after):
        raise AssertionError("layouts and desired layouts should have same length!")
    changed = [
        _moves.moved(value, one, other, group) if isinstance(value, _C.Tensor) and one is not None and other is not None else value
        for value, one, other in zip(values, before, after)
    ]
    return (*changed, *values[len(before) :])


class PrepareModuleInput(ParallelStyle):
    """Brings a module's arguments from the placements that they have to those that it wants."""

    def __init__(
        self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None, desired_input_kwarg_layouts=None, use_local_output=False
    ):  # fmt: skip
        self.input_layouts, self.desired_input_layouts = _several(input_layouts), _several(desired_input_layouts)
        self.input_kwarg_layouts, self.desired_input_kwarg_layouts = input_kwarg_layouts or {}, desired_input_kwarg_layouts or {}
        self.use_local_output = use_local_output
        if len(self.input_layouts) != len(self.desired_input_layouts):
            raise AssertionError("input_layouts and desired_input_layouts should have same length!")
        if self.input_kwarg_layouts.keys() != self.desired_input_kwarg_layouts.keys():
            raise AssertionError("input_kwarg_layouts and desired_input_kwarg_layouts should have same length!")

    def _apply(self, module, device_mesh):
        group = device_mesh.get_group()

        def prepare(module, args, kwargs):
            names = [name for name in self.input_kwarg_layouts if name in kwargs]
            befores, afters = ([layouts[name] for name in names] for layouts in (self.input_kwarg_layouts, self.desired_input_kwarg_layouts))
            named = dict(zip(names, _change([kwargs[name] for name in names], befores, afters, group)))
            return _change(args, self.input_layouts, self.desired_input_layouts, group), kwargs | named

        module.register_forward_pre_hook(prepare, with_kwargs=True)
        return module


class PrepareModuleOutput(ParallelStyle):
    """Brings a module's results from the placements that they have to those that are wanted."""

    def __init__(self, *, output_layouts, desired_output_layouts, use_local_output=True):
        self.output_layouts, self.desired_output_layouts = _several(output_layouts), _several(desired_output_layouts)
        self.use_local_output = use_local_output
        if len(self.output_layouts) != len(self.desired_output_layouts):
            raise AssertionError("output_layouts and desired_output_layouts should have same length!")

    def _apply(self, module, device_mesh):
        group = device_mesh.get_group()

        def finish(module, args, output):
            if isinstance(output, tuple):
                return _change(output, self.output_layouts, self.desired_output_layouts, group)
            return _change((output,), self.output_layouts, self.desired_output_layouts, group)[0]

        module.register_forward_hook(finish)
        return module


class PrepareModuleInputOutput(ParallelStyle):
    """PrepareModuleInput and PrepareModuleOutput together."""

    def __init__(
        self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None, desired_input_kwarg_layouts=None, use_local_input=False,
        output_layouts, desired_output_layouts, use_local_output=True,
    ):  # fmt: skip
        self.input = PrepareModuleInput(
            input_layouts=input_layouts, desired_input_layouts=desired_input_layouts, input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts,
        )  # fmt: skip
        self.output = PrepareModuleOutput(output_layouts=output_layouts, desired_output_layouts=desired_output_layouts)

    def _apply(self, module, device_mesh):
        return self.output._apply(self.input._apply(module, device_mesh), device_mesh)
