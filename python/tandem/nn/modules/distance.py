"""Distances between rows of two inputs."""

from tandem import _C
from tandem.nn.modules.module import Module


class PairwiseDistance(Module):
    """The p-norm of the difference of two inputs (N, D), with eps added to it."""

    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1, x2):
        return _C.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between two inputs along `dim`."""

    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1, x2):
        return _C.cosine_similarity(x1, x2, self.dim, self.eps)
