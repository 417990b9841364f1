"""The check of arguments for functions written in Python: the same order and the same words as those of the operations in C++; and out=.

@takes("Tensor input, int p, *, Tensor out=None")
def mvlgamma(input, p, *, out=None): ...
"""

import functools
import re

from . import _C

_MISSING = object()


def _is_number(value):
    return (
        isinstance(value, (int, float))
        or _is_one(value)
        or hasattr(value, "__float__")
        and not isinstance(value, _C.Tensor)
        and not hasattr(value, "__len__")
    )


def _is_one(value):
    return isinstance(value, _C.Tensor) and value.dim() == 0


def _is_int(value):
    if isinstance(value, _C.Tensor):
        return value.numel() == 1 and not value.is_floating_point()
    return not isinstance(value, bool) and hasattr(value, "__index__")


_FITS = {
    "Tensor": lambda value: isinstance(value, _C.Tensor),
    "int": _is_int,
    "float": _is_number,
    "Number": _is_number,
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "dtype": lambda value: isinstance(value, _C.dtype),
    "ints": lambda value: isinstance(value, (tuple, list)) and all(map(_is_int, value)),
    "floats": lambda value: isinstance(value, (tuple, list)),
    "Tensors": lambda value: isinstance(value, (tuple, list)) and all(isinstance(one, (_C.Tensor, type(None))) for one in value),
    "object": lambda value: True,
}
_WORDS = {"ints": "tuple of ints", "floats": "tuple of floats", "Tensors": "tuple of Tensors", "dtype": "torch.dtype"}


class Parameter:
    """One parameter: its name, the kind of its values, whether it may be left out or None, and whether it is taken by name only."""

    def __init__(self, text, keyword_only):
        kind, self.name, default = re.fullmatch(r"(\w+) (\w+)(?:=(.+))?", text).groups()
        self.fits, self.word = _FITS[kind], _WORDS.get(kind, kind)
        self.optional, self.nullable, self.keyword_only = default is not None, default == "None", keyword_only

    def takes(self, value):
        return self.nullable if value is None else self.fits(value)


class Signature:
    """The parameters of one form of a function."""

    def __init__(self, parameters, text):
        self.parameters, self.text = parameters, text
        self.positional = [p for p in parameters if not p.keyword_only]
        self.needed = [p for p in parameters if not p.optional]

    @classmethod
    def of(cls, text):
        parameters, keyword_only = [], False
        for part in filter(None, text.split(", ")):
            if part == "*":
                keyword_only = True
            else:
                parameters.append(Parameter(part, keyword_only))
        return cls(parameters, text)

    def of_method(self):
        """The form of the method: what comes after the tensor itself."""
        return Signature(self.parameters[1:], self.text.partition(", ")[2])

    def problem(self, name, args, kwargs):
        """What is wrong with the arguments, or None."""
        if len(args) > len(self.positional):
            needed = len([p for p in self.positional if not p.optional])
            count = str(len(self.positional)) if needed == len(self.positional) else f"from {needed} to {len(self.positional)}"
            plural, were = "s" if len(self.positional) != 1 else "", "was" if len(args) == 1 else "were"
            return f"{name}() takes {count} positional argument{plural} but {len(args)} {were} given"
        for at, parameter in enumerate(self.parameters):
            value = args[at] if at < len(args) else kwargs.get(parameter.name, _MISSING)
            if value is _MISSING:
                if not parameter.optional:
                    lacking = [p.name for p in self.parameters[at:] if not p.optional and p.name not in kwargs]
                    # The plural is PyTorch's.
                    return f"{name}() missing {len(lacking)} required positional argument{'s' if len(lacking) == 1 else ''}: " + ", ".join(
                        f'"{n}"' for n in lacking
                    )
            elif not parameter.takes(value):
                place = f" (position {at + 1})" if at < len(args) else ""
                return f"{name}(): argument '{parameter.name}'{place} must be {parameter.word}, not {type_name(value)}"
        names = [p.name for p in self.parameters]
        for key in kwargs:
            if key not in names:
                return f"{name}() got an unexpected keyword argument '{key}'"
            if names.index(key) < len(args):
                return f"{name}() got multiple values for argument '{key}'"
        return None


def type_name(value):
    """The type of an argument as errors tell it."""
    kind = type(value)
    return "torch.dtype" if isinstance(value, _C.dtype) else "Tensor" if kind is _C.Tensor else kind.__name__


def refuse(name, signatures, args, kwargs):
    """TypeError where no signature takes the arguments."""
    problems = []
    for signature in signatures:
        problem = signature.problem(name, args, kwargs)
        if problem is None:
            return
        problems.append(problem)
    count = len(args) + len(kwargs)
    likely = [p for p, s in zip(problems, signatures) if len(s.needed) <= count <= len(s.parameters)] if len(signatures) > 1 else problems
    if len(likely) == 1:
        raise TypeError(likely[0])
    given = ", ".join([*map(type_name, args), *(f"{key}={type_name(kwargs[key])}" for key in sorted(kwargs))]) + (
        ", " if kwargs and not args else ""
    )
    forms = "".join(f" * ({signature.text})\n" for signature in signatures)
    raise TypeError(f"{name}() received an invalid combination of arguments - got ({given}), but expected one of:\n{forms}")


def takes(*texts, name=None):
    """Decorates a function: its arguments are checked against the signatures before it is called."""
    signatures = [Signature.of(text) for text in texts]

    def decorate(function):
        told = name or function.__name__

        @functools.wraps(function)
        def checked(*args, **kwargs):
            refuse(told, signatures, args, kwargs)
            return function(*args, **kwargs)

        checked.as_method = _method(function, told, [signature.of_method() for signature in signatures])
        return checked

    return decorate


def _method(function, name, signatures):
    """The function as a method: errors count the arguments after the tensor itself."""

    @functools.wraps(function)
    def method(self, *args, **kwargs):
        refuse(name, signatures, args, kwargs)
        return function(self, *args, **kwargs)

    return method


_SCALARS = {
    "float32": "float",
    "float64": "double",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
}


def scalar_name(dtype):
    """The name of the type in C++ that PyTorch's errors tell."""
    return _SCALARS[repr(dtype).rpartition(".")[2]]


def into(out, result, name, same_dtype=True):
    """The result of a function called `name`, in `out` where that is a tensor: it takes the result's sizes, and has to have its dtype, or
    without `same_dtype` one that the result's can become."""
    if out is None:
        return result
    if _C.is_grad_enabled() and (out.requires_grad or result.requires_grad):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
        )
    if not same_dtype and not _C.can_cast(result.dtype, out.dtype):
        raise RuntimeError(f"result type {scalar_name(result.dtype)} can't be cast to the desired output type {scalar_name(out.dtype)}")
    if same_dtype and out.dtype is not result.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {scalar_name(result.dtype)}, but got {scalar_name(out.dtype)} instead")
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)
