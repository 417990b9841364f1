"""Orthogonal polynomials, by their recurrences. The degree is a number or a tensor; 0 where it is below 0."""

from tandem import _C
from tandem.special.elementwise import floating, into


def _polynomial(name, first, step, doc):
    """p(0) = 1, p(1) = first(x), p(k + 1) = step(x, k, p(k), p(k - 1)): each element takes the one of its degree."""

    def function(input, n, *, out=None):
        tensors = [value for value in (input, n) if isinstance(value, _C.Tensor)]
        device = tensors[0].device
        x = floating(input if isinstance(input, _C.Tensor) else _C.tensor(float(input), device=device))
        degree = (n if isinstance(n, _C.Tensor) else _C.tensor(n, device=device)).trunc().to(_C.int64)
        wide = x.to(_C.float64)
        wide, degree = _C.broadcast_tensors([wide, degree])
        before, current = _C.ones_like(wide), first(wide)
        result = _C.where(degree == 0, before, _C.zeros_like(wide))
        for k in range(1, (int(degree.max()) if degree.numel() else 0) + 1):
            result = _C.where(degree == k, current, result)
            before, current = current, step(wide, k, current, before)
        return into(result.to(x.dtype), out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _chebyshev(letter, first, kind):
    """The polynomial, and the one shifted to the interval from 0 to 1."""
    made = _polynomial(
        f"chebyshev_polynomial_{letter}", first, lambda x, k, p, before: 2 * x * p - before, f"Chebyshev's polynomial of the {kind} kind."
    )
    shifted = _polynomial(
        f"shifted_chebyshev_polynomial_{letter}",
        lambda x: first(2 * x - 1),
        lambda x, k, p, before: 2 * (2 * x - 1) * p - before,
        f"Chebyshev's polynomial of the {kind} kind, of 2x - 1.",
    )
    return made, shifted


chebyshev_polynomial_t, shifted_chebyshev_polynomial_t = _chebyshev("t", lambda x: x, "first")
chebyshev_polynomial_u, shifted_chebyshev_polynomial_u = _chebyshev("u", lambda x: 2 * x, "second")
chebyshev_polynomial_v, shifted_chebyshev_polynomial_v = _chebyshev("v", lambda x: 2 * x - 1, "third")
chebyshev_polynomial_w, shifted_chebyshev_polynomial_w = _chebyshev("w", lambda x: 2 * x + 1, "fourth")
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h", lambda x: 2 * x, lambda x, k, p, before: 2 * (x * p - k * before), "The physicists' Hermite polynomial."
)
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he", lambda x: x, lambda x, k, p, before: x * p - k * before, "The probabilists' Hermite polynomial."
)
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l",
    lambda x: 1 - x,
    lambda x, k, p, before: ((2 * k + 1 - x) * p - k * before) / (k + 1),
    "Laguerre's polynomial.",
)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p", lambda x: x, lambda x, k, p, before: ((2 * k + 1) * x * p - k * before) / (k + 1), "Legendre's polynomial."
)
