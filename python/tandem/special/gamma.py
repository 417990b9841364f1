"""Functions around the gamma function: the incomplete ones, and the multivariate one."""

import math

import tandem
from tandem import _C
from tandem.special.elementwise import choose, into
from tandem.special.incomplete import gamma_sample_slope, gamma_shares
from tandem.special.zeta import both


def _good(a, x):
    return (a > 0) & (x > 0) & a.isfinite() & x.isfinite()


def _usable(a, x):
    """a and x in float64, with 1 where they are at an edge or beyond."""
    good = _good(a, x)
    return good, *(_C.where(good, one, _C.ones_like(one)).detach().to(_C.float64) for one in (a, x))


def _shares(a, x):
    good, a_inside, x_inside = _usable(a, x)
    below, above = gamma_shares(a_inside, x_inside)
    wrong = (a < 0) | (x < 0) | a.isnan() | x.isnan() | ((a == 0) & (x == 0)) | (a.isinf() & x.isinf())
    full = (a == 0) | x.isinf()
    lower = choose((wrong, math.nan), (good, below), (full, 1.0), _C.zeros_like(below))
    upper = choose((wrong, math.nan), (good, above), (full, 0.0), _C.ones_like(above))
    return lower.to(a.dtype), upper.to(a.dtype)


class _Share(tandem.autograd.Function):
    """P(a, x), or Q(a, x) where `upper`."""

    @staticmethod
    def forward(ctx, a, x, upper):
        ctx.save_for_backward(a, x)
        ctx.upper = upper
        return _shares(a, x)[upper]

    @staticmethod
    def backward(ctx, grad):
        a, x = ctx.saved_tensors
        density = _C.exp((a - 1) * _C.log(x) - x - _C.lgamma(a)) * (-grad if ctx.upper else grad)
        if not ctx.needs_input_grad[0]:
            return None, density, None
        good, a_inside, x_inside = _usable(a, x)
        slope = gamma_sample_slope(a_inside, x_inside).to(a.dtype)
        return _C.where(good, -slope * density, _C.zeros_like(density)), density, None


def gammainc(input, other, *, out=None):
    """The regularized lower incomplete gamma function of input (the shape) and other."""
    _check("igamma", input, other)
    return into(_Share.apply(*both(input, other), False), out)


def gammaincc(input, other, *, out=None):
    """The regularized upper incomplete gamma function of input (the shape) and other."""
    _check("igammac", input, other)
    return into(_Share.apply(*both(input, other), True), out)


def _check(name, *tensors):
    for one, place, position in zip(tensors, ("input", "other"), (1, 2)):
        if not isinstance(one, _C.Tensor):
            function = {"igamma": "gammainc", "igammac": "gammaincc"}[name]
            raise TypeError(f"special_{function}(): argument '{place}' (position {position}) must be Tensor, not {type(one).__name__}")
    if not any(one.is_floating_point() for one in tensors):
        raise NotImplementedError(f"\"{name}_{tensors[0].device.type}\" not implemented for 'Long'")


def multigammaln(input, p):
    """The logarithm of the multivariate gamma function of p dimensions."""
    from tandem._composed import mvlgamma

    return mvlgamma(input, p)
