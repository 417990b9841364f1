"""Transforms of parts along a dimension: CatTransform and StackTransform."""

from tandem import _C
from tandem.distributions import constraints
from tandem.distributions.transform_base import Transform

__all__ = ["CatTransform", "StackTransform"]


class _Several(Transform):
    """Transforms, each of a part along a dimension."""

    def __init__(self, tseq, dim=0, cache_size=0):
        if not all(isinstance(one, Transform) for one in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        if cache_size:
            tseq = [one.with_cache(cache_size) for one in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms, self.dim = list(tseq), dim

    bijective = property(lambda self: all(one.bijective for one in self.transforms))


class CatTransform(_Several):
    """Transforms parts of the given lengths (1 each without them) along a dimension, each by one of tseq."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths and transforms must have the same length: {len(self.lengths)} vs {len(self.transforms)}")

    event_dim = property(lambda self: max(one.event_dim for one in self.transforms))
    length = property(lambda self: sum(self.lengths))

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, x):
        """Each transform with its part."""
        if not -x.dim() <= self.dim < x.dim() or x.size(self.dim) != self.length:
            raise AssertionError(f"the size of dimension {self.dim} has to be {self.length}, but the tensor has the sizes {tuple(x.shape)}")
        return zip(self.transforms, _C.split(x, self.lengths, self.dim))

    def _call(self, x):
        return _C.cat([one(part) for one, part in self._parts(x)], self.dim)

    def _inverse(self, y):
        return _C.cat([one.inv(part) for one, part in self._parts(y)], self.dim)

    def log_abs_det_jacobian(self, x, y):
        terms = []
        for (one, before), (_, after) in zip(self._parts(x), self._parts(y)):
            term = one.log_abs_det_jacobian(before, after)
            if one.event_dim < self.event_dim:
                count = self.event_dim - one.event_dim
                term = term.sum(tuple(range(-count, 0)))
            terms.append(term)
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        if dim < 0:
            return _C.cat(terms, dim)
        result = terms[0]
        for term in terms[1:]:
            result = result + term
        return result

    @constraints.dependent_property
    def domain(self):
        """What the transforms take, part by part."""
        return constraints.cat([one.domain for one in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self):
        """What the transforms give, part by part."""
        return constraints.cat([one.codomain for one in self.transforms], self.dim, self.lengths)


class StackTransform(_Several):
    """Transforms each index of a dimension by one of tseq."""

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, x):
        """Each transform with its part."""
        if not -x.dim() <= self.dim < x.dim() or x.size(self.dim) != len(self.transforms):
            raise AssertionError(
                f"the size of dimension {self.dim} has to be {len(self.transforms)}, but the tensor has the sizes {tuple(x.shape)}"
            )
        return zip(self.transforms, x.unbind(self.dim))

    def _call(self, x):
        return _C.stack([one(part) for one, part in self._parts(x)], self.dim)

    def _inverse(self, y):
        return _C.stack([one.inv(part) for one, part in self._parts(y)], self.dim)

    def log_abs_det_jacobian(self, x, y):
        return _C.stack(
            [one.log_abs_det_jacobian(before, after) for (one, before), (_, after) in zip(self._parts(x), self._parts(y))], self.dim
        )

    @constraints.dependent_property
    def domain(self):
        """What the transforms take, index by index."""
        return constraints.stack([one.domain for one in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        """What the transforms give, index by index."""
        return constraints.stack([one.codomain for one in self.transforms], self.dim)
