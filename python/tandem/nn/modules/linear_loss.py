"""A linear layer and the cross-entropy of what it gives, as one module."""

import math

from tandem.nn import functional as F
from tandem.nn.modules.linear import Linear
from tandem.nn.modules.loss import _WeightedLoss


class LinearCrossEntropyLoss(_WeightedLoss):
    """cross_entropy of linear(input) against target; out_features: the sizes (d1, ..., dK) of a loss of several dimensions.

    `options`, which steer how PyTorch cuts the computation up, are accepted and change nothing.
    """

    def __init__(
        self, in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None, reduction="mean", weight=None,
        ignore_index=None, label_smoothing=0.0, options=None,
    ):
        super().__init__(weight, reduction=reduction)
        self.in_features, self.num_classes, self.out_features = in_features, num_classes, tuple(out_features)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options
        self.linear = Linear(in_features, num_classes * math.prod(self.out_features), bias=bias, device=device, dtype=dtype)

    def forward(self, input, target):
        logits = self.linear(input)
        if self.out_features:
            logits = logits.reshape((*logits.shape[:-1], self.num_classes, *self.out_features))
        return F.cross_entropy(
            logits, target, weight=self.weight, ignore_index=-100 if self.ignore_index is None else self.ignore_index,
            reduction=self.reduction, label_smoothing=self.label_smoothing,
        )

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
