"""Ready-made parametrizations: a weight as direction and length, one divided by its largest singular value, orthogonal ones."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.nn.modules.module import Module
from tandem.nn.utils import parametrize
from tandem.nn.utils.orthogonal import orthogonal  # noqa: F401
from tandem.nn.utils.spectral_norm import as_matrix, default_dim, normalize, power_iteration
from tandem.nn.utils.weight_norm import norm_except_dim, weight_of


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_of(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        """Length and direction of a weight."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Splits the parameter `name` into its length along `dim` (original0) and its direction (original1)."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        """State saved by the older nn.utils.weight_norm has other names."""
        for ending, original in (("_g", "original0"), ("_v", "original1")):
            old = f"{prefix}{name}{ending}"
            if old in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.{original}"] = state_dict.pop(old)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        dimensions = weight.dim()
        if not -dimensions <= dim < dimensions:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{dimensions}, {dimensions - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + dimensions
        self.eps = eps
        if dimensions > 1:
            self.n_power_iterations = n_power_iterations
            with no_grad():
                matrix = as_matrix(weight, self.dim)
                u, v = (
                    normalize(_C.empty(n, dtype=weight.dtype, device=weight.device).normal_(0, 1), eps) for n in matrix.size()
                )
                power_iteration(matrix.t(), v, u, 15, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)

    def forward(self, weight):
        if weight.dim() == 1:
            return normalize(weight, self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            with no_grad():
                power_iteration(matrix.t(), self._v, self._u, self.n_power_iterations, self.eps)
        u, v = self._u.clone(), self._v.clone()
        return weight / _C.dot(u, _C.mv(matrix, v))

    def right_inverse(self, value):
        """The value itself: dividing it again does not change it."""
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides the parameter `name` by its largest singular value whenever it is read."""
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = default_dim(module) if dim is None else dim
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
