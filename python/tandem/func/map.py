"""vmap: a function of single values, applied along a dimension."""

import functools

import tandem
from tandem import _C
from tandem._grad_mode import keeping_graphs
from tandem.utils._pytree import tree_flatten, tree_unflatten


def _spread(dims, tree, name, text):
    """One dimension for each leaf of the tree: `dims` is a number, None, or like the tree as far as it goes down."""
    if dims is None or isinstance(dims, int):
        leaves, _ = tree_flatten(tree)
        return [dims] * len(leaves)
    if type(dims) is not type(tree) and not (isinstance(dims, (tuple, list)) and isinstance(tree, (tuple, list))):
        raise ValueError(text)
    if len(dims) != len(tree):
        raise ValueError(text)
    if isinstance(dims, dict):
        return [one for key in tree for one in _spread(dims[key], tree[key], name, text)]
    return [one for dim, part in zip(dims, tree) for one in _spread(dim, part, name, text)]


def _input_dims(func, in_dims, args):
    name = getattr(func, "__name__", repr(func))
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple "
            f"matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no "
            "inputs. The latter is unsupported."
        )
    text = (
        f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. in_dims has structure "
        f"{tree_flatten(in_dims)[1]} but inputs has structure {tree_flatten(args)[1]}."
    )
    dims = _spread(in_dims, args, name, text)
    leaves, structure = tree_flatten(args)
    checked = []
    for leaf, dim in zip(leaves, dims):
        if dim is None:
            checked.append(None)
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but in_dim must be either an integer "
                "dimension or None."
            )
        if not isinstance(leaf, _C.Tensor):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but the input is of type {type(leaf)}. "
                "We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -leaf.dim() <= dim < leaf.dim():
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but that input is a Tensor of "
                f"dimensionality {leaf.dim()} so expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
            )
        checked.append(dim % leaf.dim())
    sizes = [leaf.size(dim) for leaf, dim in zip(leaves, checked) if dim is not None]
    if not sizes:
        raise ValueError(f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): all of in_dims are None: at least one input has to be mapped over.")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension"
        )
    return leaves, structure, checked, sizes[0]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that applies func to each index of a dimension of its arguments, and stacks the results.

    It is a loop in Python: func is called once for each index, so it costs what those calls cost. PyTorch runs the operations of all
    indices at once; here what is written for whole batches is faster. in_dims: the dimension of each argument, None for those that all
    calls share; out_dims: where the dimension is in each result. randomness 'same' draws the same numbers in each call; else they are
    others each time ('error' is not refused, as the loop does not see what draws). chunk_size is accepted.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        leaves, structure, dims, count = _input_dims(func, in_dims, args)
        named, of_named = tree_flatten(kwargs)  # tensors among the named arguments are mapped along their first dimension
        state = _states() if randomness == "same" else None
        results, shape = [], None
        for index in range(count):
            if state is not None:
                _restore(state)
            given = tree_unflatten([leaf if dim is None else leaf.select(dim, index) for leaf, dim in zip(leaves, dims)], structure)
            by_name = tree_unflatten([one.select(0, index) if isinstance(one, _C.Tensor) else one for one in named], of_named)
            with keeping_graphs():
                made, shape = tree_flatten(func(*given, **by_name))
            results.append(made)
        if shape is None:
            raise RuntimeError("vmap: the mapped dimension has the size 0, so that func is never called and its result is not known")
        return _joined(func, results, shape, out_dims)

    return wrapped


def _joined(func, results, structure, out_dims):
    """The results of all calls, stacked."""
    name = getattr(func, "__name__", repr(func))
    text = (
        f"vmap({name}, ..., out_dims={out_dims}): out_dims is not compatible with the structure of `outputs`. outputs has structure {structure}."
    )
    dims = _spread(out_dims, tree_unflatten(results[0], structure), name, text)
    if len(dims) == 1 and isinstance(out_dims, tuple) and len(out_dims) == 1:
        dims = list(out_dims)
    stacked = []
    for place, dim in enumerate(dims):
        values = [one[place] for one in results]
        if dim is None:
            stacked.append(values[0])
            continue
        if not isinstance(values[0], _C.Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(values[0])}. Did you mean to set out_dims= to None "
                "for output?"
            )
        stacked.append(_C.stack(values, dim))
    return tree_unflatten(stacked, structure)


def _states():
    return tandem.get_rng_state(), [tandem.cuda.get_rng_state(i) for i in range(tandem.cuda.device_count())]


def _restore(states):
    of_cpu, of_gpus = states
    tandem.set_rng_state(of_cpu)
    for index, state in enumerate(of_gpus):
        tandem.cuda.set_rng_state(state, index)
