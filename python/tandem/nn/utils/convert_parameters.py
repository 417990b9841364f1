"""Parameters as one vector, and back."""

from tandem import _C
from tandem.nn.modules.utils import typename


def parameters_to_vector(parameters):
    """All elements of all parameters in one vector, which gradients pass through."""
    return _C.cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec, parameters):
    """Gives the parameters the vector's elements, in turn, as views of it."""
    if not isinstance(vec, _C.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec.detach()[start : start + count].view(parameter.shape)
        start += count
