"""Stochastic depth (Huang et al., Deep Networks with Stochastic Depth, 2016)."""

from tandem import _C, nn


def stochastic_depth(input, p, mode, training=True):
    """In training zeros with probability p, for the whole batch or row by row; what stays is divided by 1 - p."""
    if not 0 <= p <= 1:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0:
        return input
    size = [1] * input.dim() if mode == "batch" else [input.shape[0]] + [1] * (input.dim() - 1)
    noise = _C.empty(size, dtype=input.dtype, device=input.device).bernoulli_(1 - p)
    return input * (noise.div_(1 - p) if p < 1 else noise)


class StochasticDepth(nn.Module):
    """stochastic_depth with this p and mode, while it is trained."""

    def __init__(self, p, mode):
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, input):
        return stochastic_depth(input, self.p, self.mode, self.training)

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p}, mode={self.mode})"
