"""Bessel functions of orders 0 and 1, Airy's Ai, by sums that converge geometrically.

Near 0: power series, or for J and I the mean of exp over the circle (the trapezoid rule of a periodic function). Farther out: Hankel's
integral of e^-u u^(n-1/2) (1 + iu/2x)^(n-1/2) by the trapezoid rule. DLMF 10.2, 10.8, 10.25, 10.31, 10.32, 9.6.
"""

import math

from tandem import _C
from tandem.special.elementwise import choose, elementwise, floating, into

EULER = 0.5772156649015329
_ANGLES = [math.cos((k + 0.5) * math.pi / 32) for k in range(16)]
# v and e^-v^2 times the step and 2 / sqrt(pi), for integrals of even functions of v from 0 on.
_H = 0.2
_NODES = [(_H * k, math.exp(-((_H * k) ** 2)) * _H * 2 / math.sqrt(math.pi) * (0.5 if k == 0 else 1)) for k in range(32)]


def _mean(function):
    """The mean over the circle of a function of the cosine that is the same for both signs."""
    total = 0.0
    for cosine in _ANGLES:
        total = total + function(cosine)
    return total / len(_ANGLES)


def _safe(x, inside, stand_in):
    """x where `inside`, else a number for which the same formula is harmless."""
    return _C.where(inside, x, _C.full_like(x, stand_in))


# --- J and Y


def _hankel(x, order):
    """The real and imaginary part of Hankel's integral, for x >= 4."""
    real, imaginary = 0.0, 0.0
    for v, weight in _NODES:
        b = v * v / (2 * x)
        # The root of 1 + ib.
        size = (1 + b * b).sqrt()
        p = ((size + 1) / 2).sqrt()
        q = b / (2 * p)
        if order == 0:
            real, imaginary = real + weight * p / size, imaginary - weight * q / size
        else:
            real, imaginary = real + 2 * weight * v * v * p, imaginary + 2 * weight * v * v * q
    return real, imaginary


def _far_parts(x, order):
    """J and Y for x >= 4."""
    real, imaginary = _hankel(x, order)
    sine, cosine = x.sin(), x.cos()
    # e^i(x - pi/4) for order 0, and -i times that for order 1
    c, s = (sine + cosine) * math.sqrt(0.5), (sine - cosine) * math.sqrt(0.5)
    if order == 1:
        c, s = s, -c
    scale = (2 / (math.pi * x)).sqrt()
    return scale * (c * real - s * imaginary), scale * (c * imaginary + s * real)


def _j(order):
    def value(x):
        size = x.abs()
        near = size < 5
        small = _safe(size, near, 1.0)
        by_mean = _mean(lambda c: (small * c).cos()) if order == 0 else _mean(lambda c: (small * c).sin() * c)
        by_far = _far_parts(_safe(size, ~near & size.isfinite(), 5.0), order)[0]
        result = choose((near, by_mean), (size.isinf(), 0.0), (size.isnan(), size), by_far)
        return result if order == 0 else result * x.sign()

    return value


def _y(order):
    def value(x):
        near = (x > 0) & (x < 5)
        small = _safe(x, near, 1.0)
        square = small * small / 4
        term, harmonic, total = _C.ones_like(small), 0.0, 0.0
        if order == 0:
            for k in range(1, 28):
                term = term * square / (-k * k)
                harmonic += 1 / k
                total = total - harmonic * term
            series = 2 / math.pi * ((_C.log(small / 2) + EULER) * _mean(lambda c: (small * c).cos()) + total)
        else:
            for k in range(27):
                total = total + term * (2 * (harmonic - EULER) + 1 / (k + 1))
                harmonic += 1 / (k + 1)
                term = term * square / (-(k + 1) * (k + 2))
            logarithm = _C.log(small / 2) * _mean(lambda c: (small * c).sin() * c)
            series = 2 / math.pi * (logarithm - 1 / small - small * total / 4)
        by_far = _far_parts(_safe(x, (x >= 5) & x.isfinite(), 5.0), order)[1]
        return choose((x == 0, -math.inf), (x == math.inf, 0.0), (x < 0, math.nan), (x.isnan(), x), (near, series), by_far)

    return value


# --- I and K, times e^-|x| and e^x


def _i_scaled(order):
    def value(x):
        size = x.abs()
        near = size < 30
        small = _safe(size, near, 1.0)
        if order == 0:
            by_mean = _mean(lambda c: 0.5 * (_C.exp(small * (c - 1)) + _C.exp(small * (-c - 1))))
        else:
            by_mean = _mean(lambda c: -0.5 * c * _C.exp(small * (c - 1)) * _C.expm1(-2 * c * small))
        big = _safe(size, ~near & size.isfinite(), 30.0)
        term, total = _C.ones_like(big), 0.0
        for k in range(1, 27):
            total = total + term
            term = term * ((2 * k - 1) ** 2 - 4 * order * order) / (8 * k * big)
        by_far = total / (2 * math.pi * big).sqrt()
        result = choose((near, by_mean), (size.isinf(), 0.0), (size.isnan(), size), by_far)
        return result if order == 0 else result * x.sign()

    return value


def _i(order):
    scaled = _i_scaled(order)

    def value(x):
        size = x.abs()
        # In two factors, as e^x alone is too large where the product is not.
        half = _C.exp(size / 2)
        product = scaled(x) * half * half
        return _C.where(size.isinf(), x.abs() if order == 0 else x, product)

    return value


def _k_scaled(order):
    def value(x):
        near = (x > 0) & (x < 2)
        small = _safe(x, near, 1.0)
        square = small * small / 4
        term, harmonic, total, of_i = _C.ones_like(small), 0.0, 0.0, 0.0
        if order == 0:
            for k in range(18):
                total, of_i = total + (harmonic - EULER) * term, of_i + term
                harmonic += 1 / (k + 1)
                term = term * square / (k + 1) ** 2
            series = total - _C.log(small / 2) * of_i
        else:
            for k in range(18):
                total, of_i = total + (2 * (harmonic - EULER) + 1 / (k + 1)) * term, of_i + term
                harmonic += 1 / (k + 1)
                term = term * square / ((k + 1) * (k + 2))
            series = 1 / small + small / 2 * (_C.log(small / 2) * of_i - total / 2)
        big = _safe(x, (x >= 2) & x.isfinite(), 2.0)
        integral = 0.0
        for v, weight in _NODES:
            root = (1 + v * v / (2 * big)).sqrt()
            integral = integral + (weight / root if order == 0 else 2 * weight * v * v * root)
        by_far = (math.pi / (2 * big)).sqrt() * integral
        return choose(
            (x == 0, math.inf), (x == math.inf, 0.0), (x < 0, math.nan), (x.isnan(), x), (near, series * small.exp()), by_far
        )

    return value


def _k(order):
    scaled = _k_scaled(order)

    def value(x):
        # For infinite x the product would be 0 times what scaled gives, which is 0 too.
        return scaled(x) * _C.exp(-x.clamp(min=0))

    return value


# --- Ai

_AI_0, _AI_SLOPE_0 = 3 ** (-2 / 3) / math.gamma(2 / 3), 3 ** (-1 / 3) / math.gamma(1 / 3)
# u and e^-u u^(-1/6) du / gamma(5/6), after u = e^(y - e^-y)
_THIRD_NODES = [
    (u, math.exp(-u) * u ** (5 / 6) * (1 + math.exp(-y)) / 16 / math.gamma(5 / 6))
    for y, u in ((y, math.exp(y - math.exp(-y))) for y in (-3.75 + k / 16 for k in range(120)))
    if u < 700
]


def _airy(x):
    near = x.abs() < 2
    small = _safe(x, near, 0.0)
    cube = small**3
    first, second, total = _AI_0, _AI_SLOPE_0 * small, 0.0
    for k in range(1, 22):
        total = total + first - second
        first, second = first * cube / ((3 * k - 1) * (3 * k)), second * cube / ((3 * k) * (3 * k + 1))
    size = _safe(x.abs(), ~near & x.isfinite(), 2.0)
    zeta = 2 / 3 * size**1.5
    decaying, real, imaginary = 0.0, 0.0, 0.0
    for u, weight in _THIRD_NODES:
        b = u / (2 * zeta)
        decaying = decaying + weight * (1 + b) ** (-1 / 6)
        height, angle = weight * (1 + b * b) ** (-1 / 12), b.atan() / 6
        real, imaginary = real + height * angle.cos(), imaginary - height * angle.sin()
    scale = size**-0.25 / math.sqrt(math.pi)
    right = 0.5 * scale * _C.exp(-zeta) * decaying
    sine, cosine = zeta.sin() * math.sqrt(0.5), zeta.cos() * math.sqrt(0.5)
    left = scale * ((cosine + sine) * real - (sine - cosine) * imaginary)
    return choose((x.isnan(), x), (x.isinf(), 0.0), (near, total), (x > 0, right), left)


def _over(value, x, at_zero):
    """value / x, and at 0 what it tends to."""
    zero = x == 0
    return _C.where(zero, _C.full_like(x, at_zero), value / _C.where(zero, _C.ones_like(x), x))


_OF = "The {} Bessel function of the {} kind, of order {}{}."


def _made(name, value, slope, *words):
    return elementwise(name, value, slope, _OF.format(*words))


bessel_j0 = _made("bessel_j0", _j(0), lambda x: -bessel_j1(x), "plain", "first", 0, "")
bessel_j1 = _made("bessel_j1", _j(1), lambda x: bessel_j0(x) - _over(bessel_j1(x), x, 0.5), "plain", "first", 1, "")
bessel_y0 = _made("bessel_y0", _y(0), lambda x: -bessel_y1(x), "plain", "second", 0, "; nan below 0")
bessel_y1 = _made("bessel_y1", _y(1), lambda x: bessel_y0(x) - bessel_y1(x) / x, "plain", "second", 1, "; nan below 0")
i0 = _made("i0", _i(0), lambda x: i1(x), "modified", "first", 0, "")
i1 = _made("i1", _i(1), lambda x: i0(x) - _over(i1(x), x, 0.5), "modified", "first", 1, "")
i0e = _made("i0e", _i_scaled(0), lambda x: i1e(x) - x.sign() * i0e(x), "modified", "first", 0, ", times exp(-|x|)")
i1e = _made(
    "i1e", _i_scaled(1), lambda x: i0e(x) - _over(i1e(x), x, 0.5) - x.sign() * i1e(x), "modified", "first", 1, ", times exp(-|x|)"
)
modified_bessel_i0, modified_bessel_i1 = i0, i1
modified_bessel_k0 = _made("modified_bessel_k0", _k(0), lambda x: -modified_bessel_k1(x), "modified", "second", 0, "")
modified_bessel_k1 = _made(
    "modified_bessel_k1", _k(1), lambda x: -modified_bessel_k0(x) - modified_bessel_k1(x) / x, "modified", "second", 1, ""
)
scaled_modified_bessel_k0 = _made(
    "scaled_modified_bessel_k0", _k_scaled(0), lambda x: scaled_modified_bessel_k0(x) - scaled_modified_bessel_k1(x),
    "modified", "second", 0, ", times exp(x)",
)
scaled_modified_bessel_k1 = _made(
    "scaled_modified_bessel_k1", _k_scaled(1),
    lambda x: scaled_modified_bessel_k1(x) * (1 - 1 / x) - scaled_modified_bessel_k0(x), "modified", "second", 1, ", times exp(x)",
)
airy_ai = elementwise("airy_ai", _airy, None, "Airy's function Ai; without a derivative.")


def spherical_bessel_j0(input, *, out=None):
    """sin(x) / x; 1 at 0."""
    x = floating(input)
    wide = x.to(_C.float64)
    edge = (wide == 0) | wide.isinf()
    inside = _C.where(edge, _C.ones_like(wide), wide)
    result = choose((edge, (wide == 0).to(_C.float64)), inside.sin() / inside)
    return into(result.to(x.dtype), out)
