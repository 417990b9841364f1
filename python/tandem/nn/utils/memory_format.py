"""The weights of convolutions in another memory format."""

from tandem._grad_mode import no_grad
from tandem.nn.modules import conv

_OF_2D = ("Conv2d", "ConvTranspose2d")
_OF_3D = ("Conv3d", "ConvTranspose3d")


def _converted(module, memory_format, names):
    kinds = tuple(getattr(conv, name) for name in names)
    for part in module.modules():
        if isinstance(part, kinds):
            with no_grad():
                part.weight.data = part.weight.detach().clone().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """Stores the weights of all convolutions of two dimensions in a memory format; gives the module."""
    return _converted(module, memory_format, _OF_2D)


def convert_conv3d_weight_memory_format(module, memory_format):
    """Stores the weights of all convolutions of three dimensions in a memory format; gives the module."""
    return _converted(module, memory_format, _OF_3D)
