"""Hurwitz's zeta function, by the sum of Euler and Maclaurin."""

import math

import tandem
from tandem import _C
from tandem.special.elementwise import choose, floating, into

# B(2j) / (2j)!
_COEFFICIENTS = [
    b / math.factorial(2 * j)
    for j, b in enumerate(
        (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330), start=1
    )
]


def _value(s, q):
    good = (s > 1) & (s == s) & (q == q) & q.isfinite() & ((q > 0) | ((s == s.floor()) & (q != q.floor())))
    power = _C.where(good, s, _C.full_like(s, 2.0))
    at = _C.where(good, q, _C.ones_like(q))
    lowest = float(at.min()) if at.numel() else 1.0
    total = _C.zeros_like(at)
    for _ in range(10 + min(10000, math.ceil(max(0.0, -lowest)))):
        total = total + at.pow(-power)
        at = at + 1
    last = at.pow(-power)
    total = total + last * at / (power - 1) + 0.5 * last
    factor, term = power, last / at
    for j, coefficient in enumerate(_COEFFICIENTS):
        total = total + coefficient * factor * term
        factor = factor * (power + 2 * j + 1) * (power + 2 * j + 2)
        term = term / (at * at)
    return choose((s == 1, math.inf), (good, total), ((s > 1) & (q <= 0) & (q == q.floor()), math.inf), math.nan * s)


class _Zeta(tandem.autograd.Function):
    @staticmethod
    def forward(ctx, s, q):
        ctx.save_for_backward(s, q)
        return _value(s.detach().to(_C.float64), q.detach().to(_C.float64)).to(s.dtype)

    @staticmethod
    def backward(ctx, grad):
        s, q = ctx.saved_tensors
        if ctx.needs_input_grad[0]:
            raise NotImplementedError("the derivative for 'zeta' is not implemented.")
        return None, -grad * s * zeta(s + 1, q)


def zeta(input, other, *, out=None):
    """The sum of (k + other) ** -input over k from 0 on, for input > 1. Differentiable by other."""
    return into(_Zeta.apply(*both(input, other)), out)


def both(input, other):
    """Two tensors, or a tensor and a number, as floating tensors of one size and dtype."""
    like = input if isinstance(input, _C.Tensor) else other
    a, b = (
        floating(one) if isinstance(one, _C.Tensor) else _C.tensor(float(one), dtype=floating(like).dtype, device=like.device)
        for one in (input, other)
    )
    dtype = a.dtype if b.dim() == 0 and a.dim() else b.dtype if a.dim() == 0 and b.dim() else _C.promote_types(a.dtype, b.dtype)
    return _C.broadcast_tensors([a.to(dtype), b.to(dtype)])
