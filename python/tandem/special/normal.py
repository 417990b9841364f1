"""Functions of the normal distribution: its shares, their logarithms and quantiles, and the scaled error function."""

import math

from tandem import _C
from tandem.special.elementwise import choose, elementwise, floating, into


def ndtr(input, *, out=None):
    """The normal distribution's share below x."""
    x = floating(input)
    return into(0.5 * _C.erfc(x * -math.sqrt(0.5)), out)


def log_ndtr(input, *, out=None):
    """The logarithm of ndtr. Far below 0, where ndtr is too small for its dtype, by the asymptotic series."""
    x = floating(input)
    edge = -10.0 if x.dtype in (_C.float32, _C.float64) else -5.0
    far, low = x < edge, x < -1
    near = _C.log1p(-0.5 * _C.erfc(_C.where(low, _C.ones_like(x), x) * math.sqrt(0.5)))
    middle = _C.log(0.5 * _C.erfc(_C.where(low & ~far, x, _C.full_like(x, -1.0)) * -math.sqrt(0.5)))
    y = _C.where(far, x, _C.full_like(x, edge))
    inverse = 1 / (y * y)
    series, term = 0.0, 1.0
    for n in range(9):
        series = series + term
        term = term * -(2 * n + 1) * inverse
    below = -0.5 * y * y - _C.log(-y) - 0.5 * math.log(2 * math.pi) + _C.log(series)
    return into(_C.where(far, below, _C.where(low, middle, near)), out)


def _ndtri(p):
    tail = _C.minimum(p, 1 - p)
    inside = (tail > 0) & (tail <= 0.5)
    tail = _C.where(inside, tail, _C.full_like(tail, 0.25))
    target = tail.log()
    root = (-2 * target).sqrt()
    x = -(root - (root + 1e-6).log() * 0.9 / root.clamp(min=1)).clamp(min=0)
    # Newton's method for log_ndtr, which is nearly a parabola far out and bends one way.
    for _ in range(7):
        height = log_ndtr(x)
        x = x - (height - target) * _C.exp(height + 0.5 * x * x) * math.sqrt(2 * math.pi)
    x = _C.where(p > 0.5, -x, x)
    return choose((p == 0, -math.inf), (p == 1, math.inf), (p == 0.5, 0.0), (inside, x), math.nan * p)


def _erfcx(x):
    near = x < 5
    small = _C.where(near, x, _C.zeros_like(x))
    # x^2 in two parts, so that its rounding does not count.
    coarse = (small * 256).round() / 256
    scale = _C.exp(coarse * coarse) * _C.exp((small - coarse) * (small + coarse))
    by_erfc = _C.where(small < -26.7, _C.full_like(x, math.inf), scale * _C.erfc(small))
    big = _C.where(near | ~x.isfinite(), _C.full_like(x, 5.0), x)
    total = 0.5 / big
    for k in range(1, 13):
        t = 0.5 * k
        total = total + math.exp(-t * t) * big / (big * big + t * t)
    return choose((x.isnan(), x), (x == math.inf, 0.0), (near, by_erfc), total / math.pi)


ndtri = elementwise(
    "ndtri", _ndtri, lambda p: math.sqrt(2 * math.pi) * _C.exp(0.5 * ndtri(p) ** 2), "The normal distribution's quantile: ndtr's inverse."
)
erfcx = elementwise("erfcx", _erfcx, lambda x: 2 * x * erfcx(x) - 2 / math.sqrt(math.pi), "exp(x^2) erfc(x).")
