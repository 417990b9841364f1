"""Jacobians, Hessians and products with them, by backward."""

from .. import _C


def _tuple(value):
    return (value,) if isinstance(value, _C.Tensor) else tuple(value)


def _inputs(inputs, create_graph):
    """Inputs that can be differentiated by, apart from the caller's own unless the result keeps a graph."""
    return tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """func(inputs), and the product of v with its Jacobian."""
    from . import grad
    single = isinstance(inputs, _C.Tensor)
    given = _inputs(_tuple(inputs), create_graph)
    outputs = func(*given)
    outs = _tuple(outputs)
    weights = None if v is None else _tuple(v)
    if weights is None and any(out.numel() != 1 for out in outs):
        raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor with a single element.")
    found = grad(outs, given, weights, create_graph=create_graph, allow_unused=True, materialize_grads=not strict)
    if not create_graph:
        outputs = outputs.detach() if isinstance(outputs, _C.Tensor) else tuple(out.detach() for out in outputs)
    return outputs, found[0] if single else found


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """func(inputs), and the product of its Jacobian with v."""
    # backward is linear in its weights, so backward through it is the product the other way round
    from . import grad
    given = _inputs(_tuple(inputs), create_graph)
    outputs = func(*given)
    outs = _tuple(outputs)
    if v is None and (len(given) != 1 or given[0].numel() != 1):
        raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single Tensor with a single element.")
    directions = (_C.ones_like(given[0]),) if v is None else _tuple(v)
    weights = tuple(_C.zeros_like(out).requires_grad_() for out in outs)
    back = grad(outs, given, weights, create_graph=True, allow_unused=True, materialize_grads=not strict)
    reached = [(b, d) for b, d in zip(back, directions) if b.requires_grad]
    found = tuple(_C.zeros_like(out) for out in outs)
    if reached:
        results, given_directions = zip(*reached)
        found = grad(results, weights, given_directions, create_graph=create_graph, allow_unused=True, materialize_grads=True)
    if isinstance(outputs, _C.Tensor):
        return (outputs if create_graph else outputs.detach()), found[0]
    return (outputs if create_graph else tuple(out.detach() for out in outs)), found


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian of func at inputs: sizes of the output, then of the input."""
    from . import grad
    single = isinstance(inputs, _C.Tensor)
    given = _inputs(_tuple(inputs), create_graph)
    outputs = func(*given)
    if not isinstance(outputs, (_C.Tensor, tuple)) or not all(isinstance(one, _C.Tensor) for one in _tuple(outputs)):
        raise TypeError("The outputs of the user-provided function given to jacobian must be either a Tensor or a tuple of Tensors but the given "
                        f"outputs of the user-provided function has type {type(outputs)}.")
    rows = []
    for out in _tuple(outputs):
        parts = [[] for _ in given]
        for k in range(out.numel()):
            weight = _C.zeros(out.numel(), dtype=out.dtype, device=out.device)
            weight[k] = 1
            found = grad(out, given, weight.reshape(out.shape), retain_graph=True, create_graph=create_graph, allow_unused=True, materialize_grads=True)
            for part, g in zip(parts, found):
                part.append(g)
        made = tuple(_C.stack(part).reshape((*out.shape, *x.shape)) for part, x in zip(parts, given))
        rows.append(made[0] if single else made)
    return rows[0] if isinstance(outputs, _C.Tensor) else tuple(rows)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a func that gives one element."""
    single = isinstance(inputs, _C.Tensor)

    def first(*args):
        found = jacobian(func, args if not single else args[0], create_graph=True)
        return found.reshape(args[0].shape) if single else tuple(f.reshape(x.shape) for f, x in zip(found, args))
    return jacobian(first, inputs, create_graph=create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """func(inputs), and the product of its Hessian with v."""
    from . import grad
    single = isinstance(inputs, _C.Tensor)
    given = _inputs(_tuple(inputs), create_graph)
    output = func(*given)
    first = grad(output, given, create_graph=True, allow_unused=True, materialize_grads=True)
    weights = [_C.ones_like(x) for x in given] if v is None else _tuple(v)
    found = grad(first, given, weights, create_graph=create_graph, allow_unused=True, materialize_grads=True)
    return (output if create_graph else output.detach()), found[0] if single else found


vhp = hvp
