"""torch.onnx: models as ONNX files, for other programs to run."""
import enum
import inspect
import os

import tandem
from tandem import _C


class TrainingMode(enum.IntEnum):
    """In which mode a model is called while it is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


_NO_LIMIT = 2**63 - 1


class Dim:
    """A size that may be another one in each call, from `min` to `max`; those of one name are equal. As torch.export.Dim."""

    def __init__(self, name, *, min=None, max=None):
        self.__name__ = name
        self.min = min
        self.max = max

    def __repr__(self):
        return f"Dim({self.__name__!r}, min={self.min}, max={self.max})"


def _flatten(value, leaves):
    """The tensors in it go into `leaves`; gives what puts others in their places."""
    if isinstance(value, tandem.Tensor):
        leaves.append(value)
        at = len(leaves) - 1
        return lambda tensors: tensors[at]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = [_flatten(part, leaves) for part in value]
        return lambda tensors: type(value)(*(part(tensors) for part in parts))
    if isinstance(value, (tuple, list)):
        parts = [_flatten(part, leaves) for part in value]
        return lambda tensors: type(value)(part(tensors) for part in parts)
    if isinstance(value, dict):
        parts = {key: _flatten(part, leaves) for key, part in value.items()}
        return lambda tensors: type(value)((key, part(tensors)) for key, part in parts.items())
    return lambda tensors: value


def _outputs(value, found):
    if isinstance(value, tandem.Tensor):
        found.append(value)
    elif isinstance(value, dict):
        for part in value.values():
            _outputs(part, found)
    elif isinstance(value, (tuple, list)):
        for part in value:
            _outputs(part, found)
    elif value is not None:
        raise TypeError(f"onnx.export: the model gives a {type(value).__name__}, which no ONNX file has; give tensors")
    return found


def _dim(input_name, at, given):
    """(input, dimension, name, min, max) of what dynamic_axes or dynamic_shapes say; nothing for a size that is fixed."""
    if given is None or isinstance(given, int) and not isinstance(given, enum.Enum):
        return []
    if isinstance(given, str):
        return [(input_name, at, given, 1, _NO_LIMIT)]
    name = getattr(given, "__name__", None) or f"{input_name}_dim_{at}"
    low, high = getattr(given, "min", None), getattr(given, "max", None)
    low = low if isinstance(low, int) else 1
    high = high if isinstance(high, int) else _NO_LIMIT
    return [(input_name, at, name, low, min(high, _NO_LIMIT))]


def _from_axes(dynamic_axes):
    dims = []
    for name, axes in dynamic_axes.items():
        named = axes.items() if isinstance(axes, dict) else ((at, "") for at in axes)
        for at, given in named:
            dims.append((name, at, str(given), 1, _NO_LIMIT))
    return dims


def _from_shapes(shapes, value, names, at, dims):
    """Walks the arguments and what dynamic_shapes says of them in step. Gives how many tensors it has met."""
    if isinstance(value, tandem.Tensor):
        if shapes is not None:
            sizes = shapes.items() if isinstance(shapes, dict) else enumerate(shapes)
            for dim, given in sizes:
                dims += _dim(names[at], dim, given)
        return at + 1
    if isinstance(value, dict):
        for key, part in value.items():
            at = _from_shapes(shapes.get(key) if shapes else None, part, names, at, dims)
    elif isinstance(value, (tuple, list)):
        for i, part in enumerate(value):
            at = _from_shapes(shapes[i] if shapes else None, part, names, at, dims)
    return at


def export(
    model,
    args=(),
    f=None,
    *,
    kwargs=None,
    export_params=True,
    verbose=None,
    input_names=None,
    output_names=None,
    opset_version=None,
    dynamo=True,
    external_data=False,
    dynamic_shapes=None,
    dynamic_axes=None,
    training=TrainingMode.EVAL,
    keep_initializers_as_inputs=False,
    do_constant_folding=True,
    optimize=True,
    verify=False,
):
    """Writes what `model` computes for arguments of these dtypes and sizes to the ONNX file `f`. As torch.onnx.export.

    `args` is a tensor, or a tuple of all arguments; with `kwargs` they may hold containers of tensors, and what is no tensor stays what it is.
    Sizes are those of the arguments, but for those that `dynamic_axes` ({name: {0: "batch"}}) or `dynamic_shapes` ({"x": {0: Dim("batch")}}
    by the parameters of forward, or a tuple) leave open. The model is called with values that are not known: what forward does is written,
    and branches that it does not take are not. Where it reads a value, as item() does, that is an error, and so is an operation that no row
    of docs/onnx.md has; no file is written then. Modes, gradients and running figures stay what they are.

    opset_version is 18 where none is given. `external_data=True` puts parameters into `f` + ".data". The arguments `verbose`, `dynamo`,
    `do_constant_folding` and `optimize` are accepted and change nothing.
    """
    if f is None:
        raise NotImplementedError("onnx.export: give the file to write as f; there is no ONNXProgram to be given back")
    if not export_params or keep_initializers_as_inputs:
        raise NotImplementedError("onnx.export: parameters are always in the file, and are no inputs of it; leave export_params and keep_initializers_as_inputs as they are")
    if verify:
        raise NotImplementedError("onnx.export: verify=True takes another runtime; run the file by it, and compare")
    if not callable(model):
        raise TypeError(f"onnx.export: expected a module or a function, but got {type(model).__name__}")
    if dynamic_axes and dynamic_shapes:
        raise ValueError("onnx.export: give dynamic_axes or dynamic_shapes, not both")
    args = args if isinstance(args, (tuple, list)) else (args,)
    function = model.forward if isinstance(model, tandem.nn.Module) else model
    bound = inspect.signature(function).bind(*args, **(kwargs or {}))
    leaves = []
    rebuild = _flatten((bound.args, bound.kwargs), leaves)
    by_parameter = dict(bound.arguments)
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD and name in by_parameter:
            by_parameter.update(by_parameter.pop(name))
    own_names = []
    for name, value in by_parameter.items():
        parts = []
        _flatten(value, parts)
        own_names += [name] if isinstance(value, tandem.Tensor) else [f"{name}_{i}" for i in range(len(parts))]
    names = list(input_names or [])
    names += own_names[len(names):]

    dims = _from_axes(dynamic_axes) if dynamic_axes else []
    if dynamic_shapes:
        at = 0
        for i, (name, value) in enumerate(by_parameter.items()):
            if isinstance(dynamic_shapes, dict):
                shapes = dynamic_shapes.get(name)
            else:
                shapes = dynamic_shapes[i] if i < len(dynamic_shapes) else None
            at = _from_shapes(shapes, value, names, at, dims)

    tensors = {}
    modes = []
    if isinstance(model, tandem.nn.Module):
        modes = [(part, part.training) for part in model.modules()]
        for name, tensor in [*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)]:
            tensors.setdefault(id(tensor), (name, tensor))

    def forward(*inputs):
        positional, named = rebuild(inputs)
        return _outputs(model(*positional, **named), [])

    training = TrainingMode(training)
    changes = training is TrainingMode.TRAINING or training is TrainingMode.PRESERVE and any(mode for _, mode in modes)
    try:
        if modes and training is not TrainingMode.PRESERVE:
            model.train(training is TrainingMode.TRAINING)
        _C._onnx_export(
            forward,
            [name for name, _ in tensors.values()],
            [tensor for _, tensor in tensors.values()],
            leaves,
            os.fspath(f),
            names,
            list(output_names or []),
            dims,
            18 if opset_version is None else opset_version,
            external_data,
            changes,
        )
    finally:
        for part, mode in modes:
            part.training = mode
