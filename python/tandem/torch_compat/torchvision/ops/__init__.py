"""torchvision.ops: rectangles, the focal loss, and layers that networks of pictures are made from."""

from tandem.torch_compat.torchvision.ops import boxes, misc
from tandem.torch_compat.torchvision.ops.boxes import (
    batched_nms,
    box_area,
    box_convert,
    box_iou,
    clip_boxes_to_image,
    generalized_box_iou,
    nms,
    remove_small_boxes,
)
from tandem.torch_compat.torchvision.ops.focal_loss import sigmoid_focal_loss
from tandem.torch_compat.torchvision.ops.misc import MLP, Conv2dNormActivation, FrozenBatchNorm2d, Permute, SqueezeExcitation
from tandem.torch_compat.torchvision.ops.stochastic_depth import StochasticDepth, stochastic_depth

__all__ = [
    "Conv2dNormActivation", "FrozenBatchNorm2d", "MLP", "Permute", "SqueezeExcitation", "StochasticDepth", "batched_nms", "box_area",
    "box_convert",
    "box_iou", "boxes", "clip_boxes_to_image", "generalized_box_iou", "misc", "nms", "remove_small_boxes", "sigmoid_focal_loss",
    "stochastic_depth",
]


def __getattr__(name):
    """AttributeError that says so for what this stand-in does not have."""
    raise AttributeError(f"module 'torchvision.ops' has no attribute '{name}': tandem's stand-in has {', '.join(__all__)}", name=name)
