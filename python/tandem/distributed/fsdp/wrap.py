"""Which parts of a module become units of their own: policies, and `wrap` for who builds a module that way."""

from collections.abc import Iterable
from contextlib import contextmanager

from tandem import nn


class _Policy:
    """Chooses parts of a module: `choose` gives them with the options in which each differs."""

    def choose(self, root, ignored, options):
        """A dict from modules to options of the wrapper."""
        raise NotImplementedError

    def __call__(self, module, recurse, *args, **kwargs):
        raise NotImplementedError


class ModuleWrapPolicy(_Policy):
    """Every module of these classes."""

    def __init__(self, module_classes: Iterable[type]):
        self._module_classes = set(module_classes)
        self._module_classes_str = str(self._module_classes)

    def choose(self, root, ignored, options):
        chosen = tuple(self._module_classes)
        return {part: options for part in root.modules() if part not in ignored and isinstance(part, chosen)}

    def __call__(self, module, recurse, *args, **kwargs):
        return recurse or isinstance(module, tuple(self._module_classes))

    def __repr__(self):
        return super().__repr__() + f"({self._module_classes_str})"


class CustomPolicy(_Policy):
    """Every module for which `lambda_fn(module)` is true, or a dict of options in which it differs from the root."""

    def __init__(self, lambda_fn):
        self._lambda_fn = lambda_fn

    def choose(self, root, ignored, options):
        found = {}
        for part in root.modules():
            if part in ignored:
                continue
            answer = self._lambda_fn(part)
            if not isinstance(answer, (dict, bool)):
                raise ValueError(
                    f"The lambda_fn passed to CustomPolicy should return False/True or a kwarg dict, but it returned {answer}"
                )
            if answer is not False:
                found[part] = options if answer is True else {**options, **answer}
        return found


def always_wrap_policy(*args, **kwargs):
    """Every module."""
    return True


def lambda_auto_wrap_policy(module, recurse, nonwrapped_numel, lambda_fn):
    """Every module for which `lambda_fn(module)` is true."""
    return recurse or lambda_fn(module)


def transformer_auto_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls):
    """Every module of these classes."""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(
    module, recurse, nonwrapped_numel, min_num_params=int(1e8), force_leaf_modules=None, exclude_wrap_modules=None
):
    """Every module with at least `min_num_params` elements that are in no unit yet.

    `force_leaf_modules` are classes that are not looked into, `exclude_wrap_modules` those that become no unit."""
    if force_leaf_modules is None:
        force_leaf_modules = size_based_auto_wrap_policy.FORCE_LEAF_MODULES
    if exclude_wrap_modules is None:
        exclude_wrap_modules = size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES
    is_large = nonwrapped_numel >= min_num_params
    if recurse:
        return is_large and not isinstance(module, tuple(force_leaf_modules))
    return is_large and not isinstance(module, tuple(exclude_wrap_modules))


size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = {nn.ModuleList, nn.ModuleDict}
size_based_auto_wrap_policy.FORCE_LEAF_MODULES = {nn.MultiheadAttention}


def _or_policy(module, recurse, nonwrapped_numel, policies):
    """What one of several policies chooses."""
    return any(policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel) for policy in policies)


def _choose_by_calls(root, policy, ignored, ignored_parameters, options):
    """The parts that a policy in the form of a function chooses, which is told what is in no unit yet."""
    found = {}

    def visit(part):
        whole = sum(parameter.numel() for parameter in part.parameters() if parameter not in ignored_parameters)
        if not policy(module=part, recurse=True, nonwrapped_numel=whole):
            return 0
        wrapped = sum(visit(child) for child in part.children() if child not in ignored)
        if part is root or not policy(module=part, recurse=False, nonwrapped_numel=whole - wrapped):
            return wrapped
        found[part] = options
        return whole

    visit(root)
    return found


def parts_to_wrap(root, policy, ignored, ignored_parameters, options):
    """The parts below `root` that a policy chooses, inner ones first, each with its options."""
    if isinstance(policy, _Policy):
        found = policy.choose(root, ignored, options)
    else:
        found = _choose_by_calls(root, policy, ignored, ignored_parameters, options)
    found.pop(root, None)
    return [(part, found[part]) for part in reversed(list(root.modules())) if part in found]


def replace_part(root, part, wrapped):
    """Puts `wrapped` wherever a module below `root` has `part`."""
    for module in list(root.modules()):
        for name, child in module._modules.items():
            if child is part and module is not wrapped:
                module._modules[name] = wrapped


class _Wrapping:
    """What `wrap` does in the block of enable_wrap."""

    wrapper_cls = None
    options = {}


def wrap(module, **wrap_overrides):
    """`module` in the wrapper of the block of enable_wrap that this is called in; elsewhere the module itself."""
    if _Wrapping.wrapper_cls is None:
        return module
    return _Wrapping.wrapper_cls(module, **{**_Wrapping.options, **wrap_overrides})


@contextmanager
def enable_wrap(*, wrapper_cls, **wrapper_kwargs):
    """with enable_wrap(wrapper_cls=FullyShardedDataParallel, ...): `wrap` wraps in this block, with these options."""
    before = _Wrapping.wrapper_cls, _Wrapping.options
    _Wrapping.wrapper_cls, _Wrapping.options = wrapper_cls, wrapper_kwargs
    try:
        yield
    finally:
        _Wrapping.wrapper_cls, _Wrapping.options = before
