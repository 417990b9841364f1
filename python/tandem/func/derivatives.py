"""Derivatives of functions, by backward: grad, vjp, jvp, jacrev, jacfwd, hessian."""

import functools

import tandem
from tandem import _C
from tandem.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten


class _Tracked:
    """Values whose tensors can be differentiated by: the caller's own where those have a history or gradients, else new leaves."""

    def __init__(self, tree):
        leaves, self.structure = tree_flatten(tree)
        self._outer = tandem.is_grad_enabled()
        self.inputs, self._own, made = [], set(), []
        for leaf in leaves:
            if isinstance(leaf, _C.Tensor) and leaf.is_floating_point():
                if leaf.requires_grad and self._outer:
                    leaf = leaf.view_as(leaf)
                else:
                    leaf = leaf.detach().requires_grad_()
                    self._own.add(id(leaf))
                self.inputs.append(leaf)
            made.append(leaf)
        self._places = [i for i, leaf in enumerate(made) if any(leaf is one for one in self.inputs)]
        self._leaves = made
        self.tree = tree_unflatten(made, self.structure)

    def with_leaves(self, values):
        """The tree with other tensors in the place of the inputs."""
        made = list(self._leaves)
        for place, value in zip(self._places, values):
            made[place] = value
        return tree_unflatten(made, self.structure)

    def release(self, tree):
        """The values without the history that ends at these inputs: what else they have a history of is kept."""
        return tree_map(lambda value: self._released(value) if isinstance(value, _C.Tensor) else value, tree)

    def _released(self, value):
        return released(value, self._own) if self._outer else value.detach()


def released(value, own):
    """The tensor without the history that ends at the leaves whose ids are in `own`; as it is where it has another one."""
    if not value.requires_grad:
        return value
    nodes, seen = [value.grad_fn] if value.grad_fn is not None else [], set()
    if not nodes:
        return value.detach() if id(value) in own else value
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable") and id(node.variable) not in own:
            return value
        nodes += [following for following, _ in node.next_functions if following is not None]
    return value.detach()


def _gradients(outputs, inputs, weights, keep=True):
    """Gradients as tensors, zeros where an output does not depend on an input."""
    used = [(out, weight) for out, weight in zip(outputs, weights) if out.requires_grad]
    if not used:
        return tuple(_C.zeros_like(x) for x in inputs)
    outs, weights = zip(*used)
    return tandem.autograd.grad(outs, inputs, weights, retain_graph=True, create_graph=keep, allow_unused=True, materialize_grads=True)


def _chosen(args, argnums):
    """The positional arguments that are differentiated by, as a tuple of numbers."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"Got argnum={number}, but only {len(args)} positional inputs")
    return tuple(number % len(args) for number in numbers)


def _with(args, numbers, values):
    made = list(args)
    for number, value in zip(numbers, values):
        made[number] = value
    return made


def _split(output, has_aux, what):
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{what}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradients of func, which gives one element, by the arguments of these numbers, and func's value."""

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        numbers = _chosen(args, argnums)
        tracked = _Tracked([args[number] for number in numbers])
        with tandem.enable_grad():
            output, aux = _split(func(*_with(args, numbers, tracked.tree), **kwargs), has_aux, "grad_and_value(f)(*args)")
            if not isinstance(output, _C.Tensor):
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}")
            if output.dim() != 0:
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. "
                    "Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            found = _gradients([output], tracked.inputs, [_C.ones_like(output)])
        gradients = tuple(tracked.release(tracked.with_leaves(found)))
        gradients = gradients[0] if isinstance(argnums, int) else gradients
        output = tracked.release(output)
        return (gradients, (output, tracked.release(aux))) if has_aux else (gradients, output)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradients of func, which gives one element, by the arguments of these numbers."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return wrapper


def vjp(func, *primals, has_aux=False):
    """func(*primals), and a function that gives the product of its argument with func's Jacobian."""
    tracked = _Tracked(list(primals))
    with tandem.enable_grad():
        output, aux = _split(func(*tracked.tree), has_aux, "vjp(f, *primals)")
    leaves, structure = tree_flatten(output)
    if not leaves or not all(isinstance(leaf, _C.Tensor) for leaf in leaves):
        raise RuntimeError(f"vjp(f, *primals): Expected f to be a function that has non-empty output (got output = {output}) of tensors")

    def vjp_fn(cotangents, retain_graph=True, create_graph=None):
        """The products with `cotangents`, which is like func's output."""
        weights, of_weights = tree_flatten(cotangents)
        if of_weights != structure:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {of_weights}, primal output: {structure}"
            )
        with tandem.enable_grad():
            found = _gradients(leaves, tracked.inputs, weights)
        return tuple(tracked.release(tracked.with_leaves(found)))

    released = tracked.release(output)
    return (released, vjp_fn, tracked.release(aux)) if has_aux else (released, vjp_fn)


def _forward_product(leaves, inputs, directions):
    """The Jacobian times directions: backward is linear in its weights, and backward through it is the product the other way."""
    weights = [_C.zeros_like(leaf).requires_grad_() for leaf in leaves]
    back = _gradients(leaves, inputs, weights)
    reached = [(one, direction) for one, direction in zip(back, directions) if one.requires_grad]
    if not reached:
        return tuple(_C.zeros_like(leaf) for leaf in leaves)
    results, given = zip(*reached)
    return tandem.autograd.grad(results, weights, given, retain_graph=True, create_graph=True, allow_unused=True, materialize_grads=True)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """func(*primals), and the product of its Jacobian with tangents. By backward twice."""
    if not isinstance(primals, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    if tree_flatten(primals)[1] != tree_flatten(tangents)[1]:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if primals is "
            "a tuple of 3 tensors, tangents also must be."
        )
    tracked = _Tracked(list(primals))
    directions = [one for one in tree_leaves(tangents) if isinstance(one, _C.Tensor) and one.is_floating_point()]
    with tandem.enable_grad():
        output, aux = _split(func(*tracked.tree), has_aux, "jvp(f, primals, tangents)")
        leaves, structure = tree_flatten(output)
        found = _forward_product(leaves, tracked.inputs, directions)
    product = tracked.release(tree_unflatten(list(found), structure))
    return (tracked.release(output), product, tracked.release(aux)) if has_aux else (tracked.release(output), product)


def linearize(func, *primals):
    """func(*primals), and a function that gives the product of func's Jacobian there with its arguments."""
    tracked = _Tracked(list(primals))
    with tandem.enable_grad():
        output = func(*tracked.tree)
    leaves, structure = tree_flatten(output)

    def jvp_fn(*tangents):
        """The product with tangents."""
        with tandem.enable_grad():
            found = _forward_product(leaves, tracked.inputs, tree_leaves(list(tangents)))
        return tracked.release(tree_unflatten(list(found), structure))

    return tracked.release(output), jvp_fn


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives func's Jacobian by the arguments of these numbers: one backward for each element of the output."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        numbers = _chosen(args, argnums)
        tracked = _Tracked([args[number] for number in numbers])
        with tandem.enable_grad():
            output, aux = _split(func(*_with(args, numbers, tracked.tree), **kwargs), has_aux, "jacrev(f)(*args)")
            leaves, structure = tree_flatten(output)
            rows = [_rows(leaf, tracked.inputs) for leaf in leaves]
        made = []
        for row in rows:
            tree = tuple(tracked.with_leaves(row))
            made.append(tree[0] if isinstance(argnums, int) else tree)
        jacobian = tracked.release(tree_unflatten(made, structure))
        return (jacobian, tracked.release(aux)) if has_aux else jacobian

    return wrapper


def _rows(output, inputs):
    """The Jacobian of one output by each input."""
    parts = [[] for _ in inputs]
    for k in range(output.numel()):
        weight = _C.zeros(output.numel(), dtype=output.dtype, device=output.device)
        weight[k] = 1
        for part, found in zip(parts, _gradients([output], inputs, [weight.reshape(output.shape)])):
            part.append(found)
    return [
        _C.stack(part).reshape((*output.shape, *x.shape)) if part else _C.zeros((*output.shape, *x.shape), dtype=x.dtype, device=x.device)
        for part, x in zip(parts, inputs)
    ]


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """As jacrev: there is no forward mode, so it takes a backward for each element of the output, not of the input."""
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func, argnums=0):
    """A function that gives func's second derivatives by the arguments of these numbers."""
    return jacfwd(jacrev(func, argnums), argnums)


def functionalize(func, *, remove="mutations"):
    """func itself: operations run as they are called, and there is no graph that changes in place would have to leave."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}.")
    return func


def debug_unwrap(tensor, *, recurse=True):
    """The tensor itself: those that functions are called with here are plain ones."""
    return tensor
