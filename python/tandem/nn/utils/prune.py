"""Pruning: elements of a module's parameters held at 0 by a mask that is multiplied in before each forward.

A pruned parameter `name` is kept as the parameter `name_orig` and the buffer `name_mask`; `name` is their product."""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

from tandem import _C
from tandem._formats import contiguous_format


class BasePruningMethod(ABC):
    """What a way of pruning is made of: a subclass says its PRUNING_TYPE and computes a mask.

    PRUNING_TYPE is "unstructured" (single elements), "structured" (whole slices along `dim`) or "global" (the whole tensor at once): it
    decides which part of a tensor the method sees where others have pruned it before."""

    _tensor_name: str

    def __call__(self, module, inputs):
        """The hook before forward: puts original times mask into the parameter's place."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask for the tensor, of its shape: 0 for what is pruned. `default_mask` is what earlier pruning left."""

    def apply_mask(self, module):
        """The module's original parameter times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, original = getattr(module, self._tensor_name + "_mask"), getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes the parameter `name` by a method made of the other arguments, after what pruned it before; gives the hook.

        `importance_scores`, of the parameter's shape, take the place of its values in choosing."""
        method, former_key = cls(*args, **kwargs), None
        method._tensor_name = name
        for key, hook in module._forward_pre_hooks.items():
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
                if former_key is not None:
                    raise AssertionError(
                        f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer."
                    )
                former_key = key
        if former_key is not None:
            former = module._forward_pre_hooks.pop(former_key)
            if not isinstance(former, PruningContainer):
                former = PruningContainer(former)
            former.add_pruning_method(method)
            method = former

        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {importance_scores.shape} vs {original.shape}"
            )
        if former_key is None:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default_mask = _C.ones_like(original.detach())
        else:
            default_mask = getattr(module, name + "_mask").detach().clone()
        try:
            module.register_buffer(name + "_mask", method.compute_mask(importance_scores, default_mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if former_key is None:
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """A pruned copy of a tensor, without a module."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        if default_mask is None:
            default_mask = _C.ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module):
        """Makes the pruned values the parameter's own; the hook itself is taken away by the function `remove`."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name = self._tensor_name
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = pruned.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """The methods that pruned one parameter, in turn."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Adds a method, which must be for the same parameter."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. "
                f"Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """The mask of the newest method, which chooses among what is not pruned yet, and the mask before it together."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            free = mask == 1
        elif kind == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError(
                    'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined, '
                    f"and {type(method).__name__} has none"
                )
            dim = method.dim % t.dim()
            alive = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
            free = (slice(None),) * dim + (alive,)
        elif kind == "global":
            free = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        chosen = method.compute_mask(t[free], default_mask=mask[free])
        mask[free] = chosen.to(dtype=mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing: only makes the mask, of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        """The mask as it is."""
        return default_mask

    @classmethod
    def apply(cls, module, name):
        """See BasePruningMethod.apply."""
        return super().apply(module, name)


class _Unstructured(BasePruningMethod):
    """Prunes `amount` single elements: a number of them, or a fraction between 0 and 1."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def _order(self, t):
        """What the elements are chosen by, and whether the largest go."""
        raise NotImplementedError

    def compute_mask(self, t, default_mask):
        """The mask with 0 for `amount` more elements."""
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=contiguous_format)
        if count:
            values, largest = self._order(t)
            mask.view(-1)[_C.topk(values.reshape(-1), k=count, largest=largest).indices] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random. amount: a number of them, or a fraction between 0 and 1."""

    def _order(self, t):
        return _C.rand_like(t), True

    @classmethod
    def apply(cls, module, name, amount):
        """See BasePruningMethod.apply."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Prunes the elements nearest to 0. amount: a number of them, or a fraction between 0 and 1."""

    def _order(self, t):
        return t.detach().abs(), False

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        """See BasePruningMethod.apply."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(BasePruningMethod):
    """Prunes `amount` slices along dimension `dim`: a number of them, or a fraction between 0 and 1."""

    PRUNING_TYPE = "structured"

    def _kept(self, t, channels, count):
        """Which slices stay: one number for each, 1 or 0, where `count` of `channels` go."""
        raise NotImplementedError

    def compute_mask(self, t, default_mask):
        """The mask with 0 for `amount` more slices."""
        if t.dim() <= 1:
            raise ValueError(
                f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        channels = t.shape[self.dim]
        count = _count(self.amount, channels)
        if count == 0:
            return default_mask
        shape = [1] * t.dim()
        shape[self.dim] = channels
        return default_mask * self._kept(t, channels, count).reshape(shape).to(default_mask.dtype)


class RandomStructured(_Structured):
    """Prunes slices along `dim` at random. amount: a number of them, or a fraction between 0 and 1."""

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def _kept(self, t, channels, count):
        drawn = _C.rand(channels)
        return (drawn > _C.kthvalue(drawn, k=count).values).to(t.device)

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        """See BasePruningMethod.apply."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the slices along `dim` of the smallest n-norm. amount: a number of them, or a fraction; n: as `p` of torch.norm."""

    def __init__(self, amount, n, dim=-1):
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _kept(self, t, channels, count):
        dim = self.dim % t.dim()
        lengths = t.detach().norm(p=self.n, dim=[d for d in range(t.dim()) if d != dim])
        kept = _C.zeros(channels, device=t.device)
        kept[_C.topk(lengths, k=channels - count, largest=True).indices] = 1
        return kept

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        """See BasePruningMethod.apply."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask of the caller's."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        """The mask before and the caller's together."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        """See BasePruningMethod.apply."""
        return super().apply(module, name, mask=mask)


def identity(module, name):
    """Makes mask and original of a parameter without pruning anything; gives the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes elements of a parameter at random; gives the module. amount: a number of them, or a fraction between 0 and 1."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes the elements of a parameter that are nearest to 0, or of the smallest scores; gives the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes slices of a parameter along `dim` at random; gives the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the slices of a parameter along `dim` that have the smallest n-norm; gives the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes several parameters as if they were one vector. parameters: pairs (module, name); pruning_method: an unstructured class.

    kwargs go to the class (`amount=0.2`). importance_scores: a dictionary of pairs (module, name) to tensors."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if importance_scores is None:
        importance_scores = {}
    elif not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    values = [getattr(module, name) for module, name in parameters]
    scores = _C.cat([importance_scores.get(place, value).reshape(-1) for place, value in zip(parameters, values)])
    masks = _C.cat([getattr(module, name + "_mask", _C.ones_like(value)).reshape(-1) for (module, name), value in zip(parameters, values)])

    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    mask = container.compute_mask(scores.detach(), masks.detach())
    start = 0
    for (module, name), value in zip(parameters, values):
        custom_from_mask(module, name, mask=mask[start : start + value.numel()].view_as(value))
        start += value.numel()


def custom_from_mask(module, name, mask):
    """Prunes a parameter by a mask of its shape, 0 for what goes; gives the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module, name):
    """Makes pruning of a parameter lasting: the pruned values are the parameter, without mask and hook; gives the module."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    """Whether a module, or one in it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for _, part in module.named_modules() for hook in part._forward_pre_hooks.values())


def _check_amount(amount):
    """TypeError or ValueError where an amount cannot be right for any tensor."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and amount > 1):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount, size):
    """How many of `size` elements or slices go."""
    if isinstance(amount, numbers.Integral):
        if amount > size:
            raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
        return amount
    return round(amount * size)
