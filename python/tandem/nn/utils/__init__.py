"""Helpers around modules: gradients clipped, parameters as vectors, weights parametrized, sequences packed."""

from tandem.nn.utils import parametrizations, parametrize, rnn, stateless  # noqa: F401
from tandem.nn.utils.clip_grad import (  # noqa: F401
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from tandem.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters  # noqa: F401
from tandem.nn.utils.fusion import (  # noqa: F401
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from tandem.nn.utils.init import skip_init  # noqa: F401
from tandem.nn.utils.memory_format import convert_conv2d_weight_memory_format, convert_conv3d_weight_memory_format  # noqa: F401
from tandem.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm  # noqa: F401
from tandem.nn.utils.weight_norm import remove_weight_norm, weight_norm  # noqa: F401
