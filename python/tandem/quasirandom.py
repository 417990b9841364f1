"""Quasirandom numbers: points that fill a cube more evenly than random ones do."""

from tandem import _C
from tandem._joe_kuo import BITS, DIMENSIONS, direction_numbers

__all__ = ["SobolEngine"]

# Points are computed in pieces of about this many numbers.
_NUMBERS_AT_ONCE = 1 << 20


class SobolEngine:
    """A Sobol sequence in `dimension` dimensions: points of [0, 1) in each, in an order in which every part of it is spread evenly.

    scramble: whether the points are scrambled at random (of `seed`, if given), which keeps their evenness. There are 1,111 dimensions, of
    the 21,201 of the published table, and 2^30 points."""

    MAXBIT = BITS
    MAXDIM = DIMENSIONS

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = _C.tensor(direction_numbers(dimension), dtype=_C.int64)
        self.shift = _C.zeros(dimension, dtype=_C.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self.num_generated = 0

    def _scramble(self):
        """Draws a random shift, and a random triangular matrix of bits for each dimension that its numbers are multiplied by."""
        generator = None
        if self.seed is not None:
            generator = _C.Generator()
            generator.manual_seed(self.seed)
        places = _C.arange(self.MAXBIT)
        shifts = _C.randint(2, (self.dimension, self.MAXBIT), generator=generator)
        self.shift = (shifts << places).sum(1)
        matrices = _C.randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), generator=generator).tril(-1)
        matrices = matrices + _C.eye(self.MAXBIT, dtype=_C.int64)
        falling = self.MAXBIT - 1 - places
        bits = (self.sobolstate.unsqueeze(1) >> falling.reshape(1, -1, 1)) & 1  # dimension, bit, number
        mixed = (matrices.double() @ bits.double()).long() & 1
        self.sobolstate = (mixed << falling.reshape(1, -1, 1)).sum(1)

    def _points(self, first, count):
        """The integers of `count` points from the point `first` on, (count, dimension)."""
        order = _C.arange(first, first + count).unsqueeze(1)
        order = order ^ (order >> 1)  # of neighbours, one bit differs
        points = self.shift.expand(count, self.dimension).clone()
        for bit in range((first + count - 1).bit_length()):
            points ^= ((order >> bit) & 1) * self.sobolstate[:, bit]
        return points

    def draw(self, n=1, out=None, dtype=None):
        """The next n points, (n, dimension), in `dtype` (float32 or float64; the default dtype)."""
        if n < 0:
            raise ValueError(f"n must be non-negative, but got {n}")
        dtype = _C.get_default_dtype() if dtype is None else dtype
        if dtype not in (_C.float32, _C.float64):
            raise NotImplementedError(f"SobolEngine.draw is not implemented for {dtype}: ask for float32 or float64")
        if self.num_generated + n > 1 << self.MAXBIT:
            raise ValueError(
                f"SobolEngine has 2^{self.MAXBIT} points; {self.num_generated} are drawn, {n} more are too many: reset() begins anew"
            )
        result = _C.empty(n, self.dimension, dtype=dtype)
        rows = max(_NUMBERS_AT_ONCE // self.dimension, 1)
        for start in range(0, n, rows):
            points = self._points(self.num_generated + start, min(rows, n - start))
            result[start : start + len(points)] = points.to(dtype) * 2.0**-self.MAXBIT
            self.quasi.copy_(points[-1])
        self.num_generated += n
        return result if out is None else out.resize_(result.shape).copy_(result)

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2^m points. ValueError where the number of all points drawn would be no power of 2, which evenness asks for."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Begins the sequence anew; gives the engine."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Leaves n points out; gives the engine."""
        self.num_generated += n
        if self.num_generated:
            self.quasi.copy_(self._points(self.num_generated - 1, 1)[0])
        return self

    def __repr__(self):
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(parts)})"
