"""Several distributions as one of larger samples."""

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution
from tandem.distributions.utils import sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """Another distribution whose last dimensions of the batch belong to one sample."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        shape, count = base_distribution.batch_shape, reinterpreted_batch_ndims
        if count > len(shape):
            raise ValueError(f"Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual {count} vs {len(shape)}")
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        split = len(shape) - count
        super().__init__(shape[:split], [*shape[split:], *base_distribution.event_shape], validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    has_enumerate_support = property(lambda self: self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @constraints.dependent_property
    def support(self):
        """That of the other, for more dimensions."""
        support = self.base_dist.support
        return constraints.independent(support, self.reinterpreted_batch_ndims) if self.reinterpreted_batch_ndims else support

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand=True):
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape, _instance)
        own = self.event_shape[: self.reinterpreted_batch_ndims]
        made.base_dist = self.base_dist.expand(_C.Size([*batch_shape, *own]))
        return made

    def __repr__(self):
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
