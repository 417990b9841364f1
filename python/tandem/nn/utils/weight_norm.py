"""A weight as a direction and a length, by a hook before forward (the older way; see parametrizations.weight_norm)."""

import warnings

from tandem import _C
from tandem.nn.parameter import Parameter


def norm_except_dim(v, dim):
    """The 2-norm over all dimensions but `dim`, which keep their places with size 1; over all of them for dim -1."""
    norm = _C._linalg["vector_norm"]
    if dim == -1:
        return norm(v, 2)
    return norm(v, 2, [d for d in range(v.dim()) if d != dim % v.dim()], keepdim=True) if v.dim() > 1 else v.abs()


def weight_of(v, g, dim):
    """The weight of direction v and length g."""
    return v * (g / norm_except_dim(v, dim))


class WeightNorm:
    """The hook that computes the weight before each forward."""

    def __init__(self, name, dim):
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module):
        """The weight of the module's direction and length."""
        return weight_of(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module, name, dim):
        """Replaces the parameter `name` by two, name_g and name_v."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight.detach(), hook.dim)))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module):
        """Puts a parameter in the place of the computed weight."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    """Splits the parameter `name` into its length along `dim` (name_g) and its direction (name_v)."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.", FutureWarning, stacklevel=2
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    """Takes weight_norm off: the weight is a parameter again."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
