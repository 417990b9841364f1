"""torch._foreach_add and its kin, which optimizers and averages in other libraries call: one operation over each tensor of a list.

Every name is <operation>, for new tensors in a tuple, or <operation>_, which writes into the list's own and gives the list back.
"""

from tandem import _C, linalg

_ONE = ("abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma", "log", "log10", "log1p",
        "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc")
# What the second operand may be called: a number, one for each tensor, a tensor of no dimensions, or a list of tensors.
_SECOND = ("other", "scalar", "scalars", "tensor", "exponent")
_TWO = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "pow": "pow", "clamp_min": "clamp_min", "clamp_max": "clamp_max",
        "maximum": "clamp_min", "minimum": "clamp_max"}


def _checked(tensors):
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return tensors


def _for_each(tensors, operand):
    """The operand of each tensor: the list's own, or the same one for all."""
    if isinstance(operand, _C.Tensor):
        if operand.dim() != 0:
            raise RuntimeError(f"scalar tensor expected to be 0 dim but it has {operand.dim()} dimensions and {operand.numel()} elements.")
        return [operand] * len(tensors)
    if not isinstance(operand, (list, tuple)):
        return [operand] * len(tensors)
    if len(operand) == len(tensors):
        return operand
    if operand and isinstance(operand[0], _C.Tensor):
        raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(operand)}")
    raise RuntimeError("Tensor list must have same number of elements as scalar list.")


def _operand(name, arguments, keywords, names):
    """The one operand, by its place or any of its names, taken out of the keywords."""
    given = [keywords.pop(key) for key in names if key in keywords]
    if len(arguments) + len(given) != 1:
        raise TypeError(f"_foreach_{name}() takes one operand after the list of tensors ({len(arguments) + len(given)} given)")
    return (*arguments, *given)[0]


def _applied(name, tensors, in_place, function):
    """function(i, tensor) for each; in place it writes, and the list itself is the result."""
    results = [function(i, tensor) for i, tensor in enumerate(_checked(tensors))]
    return tensors if in_place else tuple(results)


def _of_one(name):
    def make(in_place):
        method = getattr(_C.Tensor, name + "_" * in_place)
        return lambda self: _applied(name, self, in_place, lambda i, tensor: method(tensor))
    return make


def _of_two(name):
    def make(in_place):
        def function(self, *arguments, **keywords):
            operand = _operand(name, arguments, keywords, _SECOND)
            if name == "pow" and not in_place and not isinstance(self, (list, tuple)):  # a number to the power of each
                return tuple(_C.pow(self, exponent) for exponent in _checked(operand))
            tensors = _checked(self)
            method, operands = getattr(_C.Tensor, _TWO[name] + "_" * in_place), _for_each(tensors, operand)
            return _applied(name, self, in_place, lambda i, tensor: method(tensor, operands[i], **keywords))
        return function
    return make


def _of_three(name):
    def make(in_place):
        method = getattr(_C.Tensor, name + "_" * in_place)

        def function(self, tensor1, tensor2, *arguments, **keywords):
            tensors = _checked(self)
            factor = _operand(name, arguments, keywords, ("value", "scalars")) if arguments or keywords else 1
            if isinstance(factor, _C.Tensor) and factor.dim() == 1:  # one number for each tensor
                factor = factor.tolist()
            first, second, factors = _for_each(tensors, tensor1), _for_each(tensors, tensor2), _for_each(tensors, factor)
            return _applied(name, self, in_place, lambda i, tensor: method(tensor, first[i], second[i], value=factors[i]))
        return function
    return make


def _lerp(in_place):
    method = getattr(_C.Tensor, "lerp" + "_" * in_place)

    def function(self, tensors1, *arguments, **keywords):
        tensors = _checked(self)
        ends, weights = _for_each(tensors, tensors1), _for_each(tensors, _operand("lerp", arguments, keywords, ("weight", "weights")))
        return _applied("lerp", self, in_place, lambda i, tensor: method(tensor, ends[i], weights[i]))
    return function


def _copy_(self, src, non_blocking=False):
    sources = _for_each(_checked(self), src)
    return _applied("copy", self, True, lambda i, tensor: tensor.copy_(sources[i], non_blocking=non_blocking))


def _norm(self, ord=2, dtype=None):
    return tuple(linalg.vector_norm(tensor, ord, dtype=dtype) for tensor in _checked(self))


def _powsum(self, ord=2, dtype=None):
    return tuple((tensor if dtype is None else tensor.to(dtype)).abs().pow(ord).sum() for tensor in _checked(self))


def _mm(self, mat2):
    others = _for_each(_checked(self), mat2)
    return tuple(_C.mm(tensor, others[i]) for i, tensor in enumerate(self))


def _made():
    pairs = {name: _of_one(name) for name in _ONE} | {name: _of_two(name) for name in _TWO}
    pairs |= {name: _of_three(name) for name in ("addcdiv", "addcmul")} | {"lerp": _lerp}
    functions = {name + "_" * in_place: make(in_place) for name, make in pairs.items() for in_place in (False, True)}
    functions |= {"copy_": _copy_, "norm": _norm, "powsum": _powsum, "mm": _mm,
                  "zero_": lambda self: _applied("zero", self, True, lambda i, tensor: tensor.zero_()),
                  "max": lambda self: tuple(tensor.max() for tensor in _checked(self)),
                  "clone": lambda self, *, memory_format=None: tuple(tensor.clone() for tensor in _checked(self))}
    for name, function in functions.items():
        function.__name__ = function.__qualname__ = f"_foreach_{name}"
        function.__doc__ = f"{name} of each tensor of a list" + (", in place." if name.endswith("_") else ": a tuple of new tensors.")
    return {f"_foreach_{name}": function for name, function in functions.items()}


FUNCTIONS = _made()
