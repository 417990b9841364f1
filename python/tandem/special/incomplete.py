"""Incomplete gamma functions, and how samples of gamma and beta distributions move with the parameters: by quadrature, in float64.

With t = x e^s the integrals of t^(a-1) e^-t from x to its smaller tail become those of a smooth function of s that falls from s = 0 on.
They are taken by the trapezoid rule after s = L e^(u - e^-u), which makes both ends fall off doubly exponentially: H. Takahasi and M. Mori,
"Double exponential formulas for numerical integration" (1974).
"""

import math

from tandem import _C

_STEP = 1 / 40
_NODES = [
    (math.exp(u - math.exp(-u)), _STEP * math.exp(u - math.exp(-u)) * (1 + math.exp(-u)))
    for u in (-3.75 + _STEP * n for n in range(int(4.6 / _STEP)))
]


def _reach(exponent, slope, start):
    """Where the exponent is about -40, by Newton's method."""
    s = start
    for _ in range(4):
        s = s - (exponent(s) + 40) / slope(s)
    return s


def _integrals(exponent, factors, reach):
    """The integrals over s from 0 of e^exponent(s) times each of the factors of s."""
    sums = [0.0] * len(factors)
    for place, weight in _NODES:
        s = reach * place
        height = exponent(s).exp() * weight
        sums = [total + (height if factor is None else height * factor(s)) for total, factor in zip(sums, factors)]
    return [total * reach for total in sums]


def _log_prefix(a, x):
    """The logarithm of x^a e^-x / gamma(a), without the cancellation that its three parts have for large a."""
    large = a > 20
    big = _C.where(large, a, _C.full_like(a, 20.0))
    inverse = 1 / (big * big)
    stirling = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) / big
    d = (x - big) / big
    near = d.abs() < 0.3
    small = _C.where(near, d, _C.zeros_like(d))
    # log1p(d) - d by its series near 0, in powers of r = d / (2 + d): log1p(d) = 2 artanh(r).
    r = small / (2 + small)
    square = r * r
    tail = _C.zeros_like(r)
    for n in range(23, 1, -2):
        tail = (tail + 2 / n) * square
    difference = _C.where(near, r * tail - small * r, _C.log(x / big) - d)
    by_stirling = big * difference + 0.5 * _C.log(big / (2 * math.pi)) - stirling
    some = _C.where(large, _C.ones_like(a), a)
    return _C.where(large, by_stirling, _C.xlogy(some, x) - x - _C.lgamma(some))


def _gamma_integral(a, x, factors):
    """The integrals of (t/x)^(a-1) e^(x-t) dt/x times each factor(ln t) over the tail on whose side x is, and whether that is the lower."""
    lower = x <= a
    way = _C.where(lower, -_C.ones_like(x), _C.ones_like(x))

    def exponent(s):
        return way * a * s - x * _C.expm1(way * s)

    def slope(s):
        return way * (a - x * _C.exp(way * s))

    apart = (a - x).abs()
    start = 80 / (apart + (apart * apart + 80 * x).sqrt())
    start = _C.where(lower, start, _C.minimum(start, _C.log1p(80 / x)))
    log_x = x.log()
    moved = [None if factor is None else (lambda s, factor=factor: factor(log_x + way * s)) for factor in factors]
    return _integrals(exponent, moved, _reach(exponent, slope, start)), lower


def gamma_shares(a, x):
    """P(a, x) and Q(a, x): the gamma distribution's shares below and above x. float64, a > 0 and x > 0, both finite."""
    (area,), lower = _gamma_integral(a, x, [None])
    share = (_log_prefix(a, x).exp() * area).clamp(0, 1)
    return _C.where(lower, share, 1 - share), _C.where(lower, 1 - share, share)


def gamma_sample_slope(a, x):
    """How a sample x of the gamma distribution moves with a, its quantile kept: -dP/da / density. float64."""
    center = _C.digamma(a)
    (moment,), lower = _gamma_integral(a, x, [lambda log_t: log_t - center])
    return x * _C.where(lower, -moment, moment)


def beta_sample_slope(a, b, x, rest):
    """How a sample x of the beta distribution moves with a, its quantile kept. rest: 1 - x. float64."""
    # Over the smaller tail, in logits; on the upper side the roles of x and 1 - x, and of a and b, are exchanged.
    lower = x * b <= a * rest
    p, q = _C.where(lower, a, b), _C.where(lower, b, a)
    t, total = _C.where(lower, x, rest), a + b
    other = _C.where(lower, rest, x)

    def fall(s):
        return _C.log1p(t * _C.expm1(-s))

    def exponent(s):
        return -p * s - total * fall(s)

    def slope(s):
        moved = t * _C.exp(-s)
        return -p + total * moved / (moved + other)

    apart = p - total * t
    start = 80 / (apart + (apart * apart + 80 * total * t * other).sqrt())
    center = _C.digamma(a) - _C.digamma(total)
    log_t, log_other = t.log(), other.log()

    def factor(s):
        less = fall(s)
        return _C.where(lower, log_t - s - less, log_other - less) - center

    (moment,) = _integrals(exponent, [factor], _reach(exponent, slope, start))
    return x * rest * _C.where(lower, -moment, moment)
