"""The von Mises distribution of angles."""

import math

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions import constraints
from tandem.distributions.distribution import Distribution
from tandem.distributions.sampling import until_accepted
from tandem.distributions.utils import broadcast_all
from tandem.special import i0e, i1e

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles about loc with a density as exp(concentration * cos(angle - loc)). Samples by Best and Fisher (1979), without gradients."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean = mode = property(lambda self: self.loc, doc="The mean direction, which is the likeliest one.")

    @property
    def variance(self):
        """The circular variance: 1 - the mean's length."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        concentration = self.concentration
        # cos(d) - 1 without cancellation
        turned = -2 * _C.sin((value - self.loc) / 2).square()
        return concentration * turned - math.log(2 * math.pi) - i0e(concentration).log()

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            k = self.concentration.to(_C.float64)
            tau = 1 + (1 + 4 * k * k).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            # For small concentrations the formula cancels: r is 1/k + k there.
            r = _C.where(k < 1e-5, 1 / k + k, (1 + rho * rho) / (2 * rho))
            k, r = (one.expand(shape).reshape(-1) for one in (k, r))

            def draw(places):
                u1, u2, u3 = _C.rand((3, places.numel()), dtype=_C.float64, device=k.device).clamp(min=2.0**-53).unbind(0)
                k_here, r_here = k[places], r[places]
                z = _C.cos(math.pi * u1)
                f = (1 + r_here * z) / (r_here + z)
                c = (k_here * (r_here - f)).clamp(min=0)
                return (u3 - 0.5).sign() * _C.acos(f.clamp(-1, 1)), (c * (2 - c) - u2 <= 0) & ((c / u2).log() + 1 - c < 0)

            turned = until_accepted(shape, k, draw) + self.loc.to(_C.float64) + math.pi
            return (_C.remainder(turned, 2 * math.pi) - math.pi).to(self.loc.dtype)
