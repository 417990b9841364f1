"""Special functions: torch.special's."""

import math

from tandem import _C
from tandem.special.bessel import (airy_ai, bessel_j0, bessel_j1, bessel_y0, bessel_y1, i0, i0e, i1, i1e, modified_bessel_i0,
                                   modified_bessel_i1, modified_bessel_k0, modified_bessel_k1, scaled_modified_bessel_k0,
                                   scaled_modified_bessel_k1, spherical_bessel_j0)
from tandem.special.elementwise import floating, into
from tandem.special.gamma import gammainc, gammaincc, multigammaln
from tandem.special.normal import erfcx, log_ndtr, ndtr, ndtri
from tandem.special.polynomials import (chebyshev_polynomial_t, chebyshev_polynomial_u, chebyshev_polynomial_v, chebyshev_polynomial_w,
                                        hermite_polynomial_h, hermite_polynomial_he, laguerre_polynomial_l, legendre_polynomial_p,
                                        shifted_chebyshev_polynomial_t, shifted_chebyshev_polynomial_u, shifted_chebyshev_polynomial_v,
                                        shifted_chebyshev_polynomial_w)
from tandem.special.zeta import zeta

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t", "chebyshev_polynomial_u",
    "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1",
    "gammainc", "gammaincc", "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e", "laguerre_polynomial_l",
    "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "modified_bessel_i0", "modified_bessel_i1",
    "modified_bessel_k0", "modified_bessel_k1", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0", "xlog1py", "xlogy", "zeta",
]

digamma = psi = _C.digamma
erf, erfc, erfinv = _C.erf, _C.erfc, _C.erfinv
exp2, expm1, log1p = _C.exp2, _C.expm1, _C.log1p
expit, logit = _C.sigmoid, _C.logit
gammaln, polygamma = _C.lgamma, _C.polygamma
log_softmax, softmax, logsumexp = _C.log_softmax, _C.softmax, _C.logsumexp
round, sinc, xlogy = _C.round, _C.sinc, _C.xlogy


def entr(input, *, out=None):
    """-x ln(x); 0 at 0, -inf below."""
    x = floating(input)
    return into(_C.where(x < 0, _C.full_like(x, -math.inf), -_C.xlogy(x, x)), out)


def xlog1py(input, other, *, out=None):
    """x ln(1 + y); 0 where x is 0."""
    x = input if isinstance(input, _C.Tensor) else _C.tensor(input)
    y = other if isinstance(other, _C.Tensor) else _C.tensor(other, dtype=x.dtype if x.is_floating_point() else None, device=x.device)
    product = x * _C.log1p(y)
    return into(_C.where((x == 0) & ~y.isnan(), _C.zeros_like(product), product), out)
