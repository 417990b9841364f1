"""A weight divided by its largest singular value, by a hook before forward (the older way; see parametrizations.spectral_norm)."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from tandem.nn.parameter import Parameter


def normalize(vector, eps):
    """The vector with length 1."""
    return _C.normalize(vector, dim=0, eps=eps)


def power_iteration(matrix, u, v, steps, eps):
    """Brings u and v closer to the singular vectors of the largest singular value, in place; begins with v, from u."""
    for _ in range(steps):
        v.copy_(normalize(_C.mv(matrix.t(), u), eps))
        u.copy_(normalize(_C.mv(matrix, v), eps))


def as_matrix(weight, dim):
    """The weight as a matrix whose rows are its slices along `dim`."""
    if dim != 0:
        weight = weight.permute(dim, *[d for d in range(weight.dim()) if d != dim])
    return weight.reshape(weight.size(0), -1)


def default_dim(module):
    """The dimension of a weight that outputs stand along."""
    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0


class SpectralNorm:
    """The hook that computes the weight before each forward; in training it improves its estimate first."""

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight):
        """The weight as a matrix of outputs by inputs."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module, do_power_iteration):
        """The weight divided by its largest singular value."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                power_iteration(matrix, u, v, self.n_power_iterations, self.eps)
                u, v = u.clone(), v.clone()  # the next forward changes them while this one's backward may still need them
        return weight / _C.dot(u, _C.mv(matrix, v))

    def remove(self, module):
        """Puts a parameter in the place of the computed weight."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for ending in ("_u", "_v", "_orig"):
            delattr(module, self.name + ending)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Replaces the parameter `name` by name_orig and the buffers name_u and name_v."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        with no_grad():
            rows, columns = as_matrix(weight, dim).size()
            u, v = (
                normalize(_C.empty(n, dtype=weight.dtype, device=weight.device).normal_(0, 1), eps) for n in (rows, columns)
            )
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.detach())
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        return hook


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides the parameter `name` by its largest singular value before each forward."""
    SpectralNorm.apply(module, name, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Takes spectral_norm off: the weight is a parameter again."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
