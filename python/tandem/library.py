"""Operations of one's own, as torch.library: a function with a name, kernels for devices, and a backward.

@custom_op("mylib::crop", mutates_args=()) makes one of a function with types; torch.ops.mylib.crop is the same. A kernel sees tensors without
history. Tensors in lists are given no gradients.
"""

import collections.abc
import inspect
import types
import typing

import tandem
from tandem import _C, ops
from tandem.autograd import Function

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "impl", "infer_schema", "opcheck", "register_autograd", "register_fake", "register_kernel",
    "register_vmap",
]  # fmt: skip

_operations = {}  # by their names
_SIMPLE = {
    _C.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", _C.dtype: "ScalarType", _C.device: "Device",
    typing.Union[int, float, bool]: "Scalar", typing.Union[int, float]: "Scalar",
}  # fmt: skip
_UNIONS = (typing.Union, types.UnionType)


def _type_text(kind):
    """A type as a schema has it; None where it has none."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in _UNIONS and type(None) in parts:
        rest = [part for part in parts if part is not type(None)]
        inner = _type_text(rest[0] if len(rest) == 1 else typing.Union[tuple(rest)])
        return inner and f"{inner}?"
    if origin in (list, typing.List, collections.abc.Sequence) and parts:
        inner = _type_text(parts[0])
        return inner and f"{inner}[]"
    return None


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The text of an operation's parameters and results by its function's types: "(Tensor x, SymInt n=1) -> Tensor"."""
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)
    texts, marks = [], 0
    for name, parameter in signature.parameters.items():
        if name not in hints:
            raise ValueError(f"infer_schema(func): Parameter {name} must have a type annotation. Got func with signature {signature})")
        text = _type_text(hints[name])
        if text is None:
            raise ValueError(f"infer_schema(func): Parameter {name} has unsupported type {hints[name]}. Got func with signature {signature})")
        if mutates_args == "unknown" or name in mutates_args:
            if not text.startswith("Tensor"):
                raise ValueError(f"infer_schema(func): Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
            text = text.replace("Tensor", f"Tensor(a{marks}!)", 1)
        marks += 1
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in texts:
            texts.append("*")
        value = f'"{parameter.default}"' if isinstance(parameter.default, str) else parameter.default
        default = "" if value is parameter.empty else f"={value}"
        texts.append(f"{text} {name}{default}")
    for name in () if mutates_args == "unknown" else mutates_args:
        if name not in signature.parameters:
            raise ValueError(f"infer_schema(func): {name} in mutates_args is no parameter of func, which has the signature {signature}")
    result = hints.get("return", inspect.Signature.empty)
    if result is inspect.Signature.empty:
        raise ValueError("infer_schema(func): Expected return type to be annotated; got none")
    if typing.get_origin(result) is tuple:
        returned = f"({', '.join(map(str, map(_type_text, typing.get_args(result))))})"
    else:
        returned = "()" if result is type(None) else _type_text(result)
    return f"{op_name or ''}({', '.join(texts)}) -> {returned}"


class CustomOpDef:
    """An operation of one's own, which is called like its function."""

    def __init__(self, namespace, name, function, schema, mutates_args):
        self._namespace, self._name, self._qualname = namespace, name, f"{namespace}::{name}"
        self._schema = schema
        self._mutates_args = mutates_args
        self._signature = inspect.signature(function) if function is not None else None
        self._kernels = {}  # by types of devices; None for all
        self._backward = self._setup_context = self._fake = None
        _operations[self._qualname] = self
        ops.add(namespace, name, self)

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    # --- What it is made of
    def register_kernel(self, device_types, fn=None, /):
        """Makes a function the kernel for tensors of a type of device, or of several; None for all. A decorator without fn."""

        def register(function):
            for device in [device_types] if device_types is None or isinstance(device_types, str) else device_types:
                self._kernels[device] = function
            if self._signature is None:
                self._signature = inspect.signature(function)
            return function

        return register if fn is None else register(fn)

    def register_fake(self, fn, /):
        """Keeps a function that gives results of the right sizes: nothing here asks it but opcheck."""
        self._fake = fn
        return fn

    def register_autograd(self, backward, /, *, setup_context=None):
        """backward(ctx, *grads) gives the gradients of all arguments; setup_context(ctx, inputs, output) keeps for it what it needs."""
        if self._mutates_args:
            raise RuntimeError(f"Cannot register autograd formula for non-functional operator {self} with schema {self._schema}")
        self._backward, self._setup_context = backward, setup_context

    def register_vmap(self, func=None, /):
        """Accepted: vmap calls the operation for each index."""
        return (lambda function: function) if func is None else func

    def set_kernel_enabled(self, device_type, enabled=True):
        raise NotImplementedError("CustomOpDef.set_kernel_enabled")

    # --- Calls
    def __call__(self, *args, **kwargs):
        if self._signature is None:
            raise NotImplementedError(f"Could not run '{self._qualname}': no kernel was registered for it")
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self._check(bound.arguments)
        named = {name: bound.arguments[name] for name, p in self._signature.parameters.items() if p.kind is p.KEYWORD_ONLY}
        given = tuple(value for name, value in bound.arguments.items() if name not in named)
        recorded = _C.is_grad_enabled() and not self._mutates_args and any(isinstance(one, _C.Tensor) and one.requires_grad for one in given)
        return _applied(self, named).apply(*given) if recorded else self._run(given, named)

    def _check(self, arguments):
        """RuntimeError where a tensor is wanted and something else is given."""
        for at, (name, value) in enumerate(arguments.items()):
            if self._signature.parameters[name].annotation is _C.Tensor and not isinstance(value, _C.Tensor):
                raise RuntimeError(
                    f"{self._qualname}() Expected a value of type 'Tensor' for argument '{name}' but instead found type '{type(value).__name__}'.\n"
                    f"Position: {at}\nValue: {value}\nDeclaration: {self._qualname}{self._schema}"
                )

    def _run(self, args, named):
        """The kernel's results for the arguments, which are without history."""
        tensors = [one for one in _flat((*args, *named.values())) if isinstance(one, _C.Tensor)]
        kind = tensors[0].device.type if tensors else "cpu"
        kernel = self._kernels.get(kind, self._kernels.get(None))
        if kernel is None:
            raise NotImplementedError(f"Could not run '{self._qualname}' with arguments from the '{kind.upper()}' backend: register a kernel for it")
        with tandem.no_grad():
            result = kernel(*args, **named)
        for one in _flat((result,)):
            if isinstance(one, _C.Tensor) and any(one is tensor for tensor in tensors):
                raise RuntimeError(
                    f"{self._name} (with implementation in {inspect.getmodule(kernel)}): The output of this custom operator (1) must not also be an input "
                    "to this custom operator and (2) may not alias any inputs to this custom operator or other returns. Return x.clone() in place of x."
                )
        return result


def _flat(values):
    """The values with those of lists and tuples among them."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def _applied(operation, named):
    """The differentiable function of an operation, for these keyword-only arguments."""

    def forward(*args):
        return operation._run(args, named)

    def setup_context(ctx, inputs, output):
        if operation._setup_context is not None:
            more = {"keyword_only_inputs": named} if named else {}
            operation._setup_context(ctx=ctx, inputs=inputs, output=output, **more)

    def backward(ctx, *grads):
        if operation._backward is None:
            raise RuntimeError(
                f"Trying to backward through {operation._namespace}.{operation._name}.default but no autograd formula was registered. Please use "
                "register_autograd to add one."
            )
        return operation._backward(ctx, *grads)

    parts = {"forward": forward, "setup_context": setup_context, "backward": backward}
    name = f"GeneratedBackwardFor_{operation._namespace}_{operation._name}_default"
    return type(name, (Function,), {part: staticmethod(function) for part, function in parts.items()})


def _split(name):
    parts = name.split("::")
    if len(parts) != 2 or not all(parts):
        raise ValueError(f"the name of an operation has a namespace, as mylib::crop; got {name}")
    return parts


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Makes an operation "namespace::name" of a function whose parameters have types. mutates_args: names of the tensors that it changes.

    device_types: the types of devices that it is the kernel for, all without. A decorator without fn.
    """

    def make(function):
        namespace, own = _split(name)
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        operation = CustomOpDef(namespace, own, function, text, tuple(mutates_args))
        operation.register_kernel(device_types, function)
        return operation

    return make if fn is None else make(fn)


def _operation(op):
    """The operation of a name, or of what stands for it."""
    if isinstance(op, CustomOpDef):
        return op
    if not isinstance(op, str):
        op = str(op).removesuffix(".default").replace(".", "::", 1)
    if op not in _operations:
        raise RuntimeError(f"operator {op} does not exist")
    return _operations[op]


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """CustomOpDef.register_kernel of an operation or its name."""
    return _operation(op).register_kernel(device_types, func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=True):
    """CustomOpDef.register_fake of an operation or its name. A decorator without func."""
    return _operation(op).register_fake if func is None else _operation(op).register_fake(func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """CustomOpDef.register_autograd of an operation or its name."""
    _operation(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(op, func=None, /, *, lib=None):
    """CustomOpDef.register_vmap of an operation or its name."""
    return _operation(op).register_vmap(func)


def define(qualname, schema, *, lib=None, tags=()):
    """Makes an operation "namespace::name" without a kernel; impl() gives it some."""
    CustomOpDef(*_split(qualname), None, schema, ())


def _devices(kinds):
    """Types of devices by the names that old programs have: "CPU", "CUDA", "CompositeImplicitAutograd"."""
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return [None if kind.startswith("Composite") or kind == "default" else kind.lower() for kind in kinds]


def impl(qualname, types, func=None, *, lib=None):
    """Makes a function the kernel of an operation for types of devices: "cpu", "cuda", "default" for all. A decorator without func."""
    return _operation(qualname).register_kernel(_devices(types), func)


class Library:
    """Operations of one namespace: Library("mylib", "DEF") with define and impl."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema, alias_analysis="", *, tags=()):
        """Makes an operation of a text such as "foo(Tensor x) -> Tensor"; gives its name."""
        name = schema.partition("(")[0].strip()
        define(f"{self.ns}::{name}", schema[len(name) :])
        return name

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Makes a function the kernel of an operation."""
        name = op_name if isinstance(op_name, str) else str(op_name).partition(".")[2]
        impl(f"{self.ns}::{name}", dispatch_key or self.dispatch_key or "CompositeImplicitAutograd", fn)


def opcheck(op, args, kwargs=None, *, test_utils=("test_schema", "test_autograd_registration", "test_faketensor"), raise_exception=True, atol=None, rtol=None):
    """Calls the operation once, compares the results of its fake with it, and backward's sizes. What failed is an error, or a text in the result."""
    operation = _operation(op)
    found = {}
    for test in [test_utils] if isinstance(test_utils, str) else test_utils:
        try:
            _TESTS.get(test, _call)(operation, args, kwargs or {})
            found[test] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise
            found[test] = error
    return found


def _call(operation, args, kwargs):
    operation(*args, **kwargs)


def _compare_fake(operation, args, kwargs):
    if operation._fake is None:
        return
    real, fake = (list(_flat((run(*args, **kwargs),))) for run in (operation, operation._fake))
    for one, other in zip(real, fake, strict=True):
        if isinstance(one, _C.Tensor) and (one.shape, one.dtype) != (other.shape, other.dtype):
            raise RuntimeError(f"{operation}: the fake gives {list(other.shape)} of {other.dtype}, and a kernel {list(one.shape)} of {one.dtype}")


def _differentiate(operation, args, kwargs):
    leaves = [one for one in args if isinstance(one, _C.Tensor) and one.requires_grad]
    results = [one for one in _flat((operation(*args, **kwargs),)) if isinstance(one, _C.Tensor) and one.requires_grad]
    if leaves and results and operation._backward is not None:
        tandem.autograd.grad(results, leaves, [_C.ones_like(one) for one in results], allow_unused=True)


_TESTS = {"test_faketensor": _compare_fake, "test_autograd_registration": _differentiate}
