"""What puts a module's tensors on another device or gives them another dtype; the parameters stay the same objects."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.nn.parameter import Parameter, is_lazy


def _parse_to(args, kwargs):
    """The device, dtype and further keywords that the arguments of `Tensor.to` name."""
    device, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
    options = {name: kwargs.pop(name) for name in ("non_blocking", "copy", "memory_format") if name in kwargs}
    if "tensor" in kwargs:
        args = (kwargs.pop("tensor"), *args)
    if kwargs:
        raise TypeError(f"to() received an invalid keyword argument: {next(iter(kwargs))}")
    for argument in args:
        if isinstance(argument, _C.Tensor):
            device, dtype = argument.device, argument.dtype
        elif isinstance(argument, _C.dtype):
            dtype = argument
        elif isinstance(argument, bool):
            options.setdefault("non_blocking", argument)
        elif isinstance(argument, (str, int, _C.device)):
            device = argument
        elif argument is not None:
            raise TypeError(f"to() received an invalid combination of arguments - got ({type(argument).__name__})")
    return device, dtype, options


class Moving:
    """The part of Module that moves and converts it."""

    def _apply(self, fn, recurse=True):
        """Puts fn(tensor) in the place of the memory of each parameter, of its gradient, and of each buffer."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is not None:
                _move_parameter(parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = self.__dict__[name] = _move_buffer(buffer, fn)
        return self

    def to(self, *args, **kwargs):
        """Moves parameters and buffers to a device; a dtype is for those that are floating-point. Arguments as of Tensor.to."""
        device, dtype, options = _parse_to(args, dict(kwargs))
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        if device is not None:
            options["device"] = device
        with_dtype = options if dtype is None else {**options, "dtype": dtype}

        def convert(tensor):
            arguments = with_dtype if tensor.is_floating_point() else options
            return tensor.to(**arguments) if arguments else tensor

        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        """Moves parameters and buffers to a device without their values."""
        return self._apply(lambda tensor: _C.empty_like(tensor, device=device), recurse=recurse)

    def cuda(self, device=None):
        """Moves parameters and buffers to a GPU: the current one, or the one given."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def cpu(self):
        """Moves parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def type(self, dst_type):
        """Gives all parameters and buffers the dtype."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self):
        """Gives floating-point parameters and buffers the dtype float32."""
        return self._cast(_C.float32)

    def double(self):
        """Gives floating-point parameters and buffers the dtype float64."""
        return self._cast(_C.float64)

    def half(self):
        """Gives floating-point parameters and buffers the dtype float16."""
        return self._cast(_C.float16)

    def bfloat16(self):
        """Gives floating-point parameters and buffers the dtype bfloat16."""
        return self._cast(_C.bfloat16)

    def _cast(self, dtype):
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def share_memory(self):
        """Puts parameters and buffers into memory that other processes can map."""
        return self._apply(lambda tensor: tensor.share_memory_())


def _move_parameter(parameter, fn):
    with no_grad():
        moved = fn(parameter)
    if moved is not parameter:
        parameter.data = moved.detach() if isinstance(moved, Parameter) else moved
    gradient = parameter.grad
    if gradient is not None:
        with no_grad():
            moved = fn(gradient)
        if moved is not gradient:
            gradient.data = moved


def _move_buffer(buffer, fn):
    if is_lazy(buffer):
        buffer.data = fn(buffer.data)
        return buffer
    moved = fn(buffer)
    if moved is not buffer and getattr(buffer, "_is_buffer", False):
        moved.persistent, moved._is_buffer = buffer.persistent, True
    return moved
