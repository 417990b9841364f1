"""Trees of lists, tuples, named tuples and dictionaries: their leaves, and the same tree with others. As torch.utils._pytree."""

from collections import OrderedDict, defaultdict


class TreeSpec:
    """The form of a tree without its leaves: what it is made of, and how many leaves it has."""

    def __init__(self, kind=None, keys=None, children=()):
        self.type, self.context, self.children_specs = kind, keys, list(children)
        self.num_leaves = 1 if kind is None else sum(child.num_leaves for child in self.children_specs)

    def is_leaf(self):
        """Whether it is a leaf alone."""
        return self.type is None

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and (self.type, self.context, self.children_specs) == (
            other.type,
            other.context,
            other.children_specs,
        )

    __hash__ = None

    def __repr__(self):
        return "*" if self.type is None else f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


def _is_named(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def tree_is_leaf(tree, is_leaf=None):
    """Whether it is nothing that is gone into."""
    kinds = (list, tuple, dict, OrderedDict, defaultdict)
    return (is_leaf is not None and is_leaf(tree)) or not (type(tree) in kinds or _is_named(tree))


def tree_flatten(tree, is_leaf=None):
    """The leaves as a list, and the form of the tree."""
    if tree_is_leaf(tree, is_leaf):
        return [tree], TreeSpec()
    keys = list(tree) if isinstance(tree, dict) else None
    leaves, children = [], []
    for child in (tree.values() if keys is not None else tree):
        its, spec = tree_flatten(child, is_leaf)
        leaves += its
        children.append(spec)
    if isinstance(tree, defaultdict):
        keys = (tree.default_factory, keys)
    return leaves, TreeSpec(type(tree), keys, children)


def tree_unflatten(leaves, treespec):
    """The tree of a form with these leaves."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} "
            f"but the spec refers to a pytree that holds {treespec.num_leaves} items ({treespec})."
        )
    return _built(iter(leaves), treespec)


def _built(leaves, spec):
    if spec.type is None:
        return next(leaves)
    children = [_built(leaves, child) for child in spec.children_specs]
    if spec.type is defaultdict:
        factory, keys = spec.context
        return defaultdict(factory, zip(keys, children))
    if spec.context is not None:
        return spec.type(zip(spec.context, children))
    return spec.type(*children) if hasattr(spec.type, "_fields") else spec.type(children)


def tree_leaves(tree, is_leaf=None):
    """The leaves as a list."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    """The form of the tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree with func(leaf) for each leaf; with more trees of that form, func of the leaves at each place."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_leaves(rest, is_leaf) for rest in rests]
    if any(len(other) != len(leaves) for other in others):
        raise ValueError("tree_map: the trees are of different forms")
    return tree_unflatten([func(*together) for together in zip(leaves, *others)], spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls func(leaf) for each leaf, and gives the tree as it is."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(type_or_types, func, tree, is_leaf=None):
    """The tree with func(leaf) for each leaf of these types."""
    wanted = type_or_types if isinstance(type_or_types, (type, tuple)) else None
    chosen = (lambda leaf: isinstance(leaf, wanted)) if wanted is not None else type_or_types
    return tree_map(lambda leaf: func(leaf) if chosen(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Whether pred(leaf) is true for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Whether pred(leaf) is true for any leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))
