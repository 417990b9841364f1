"""The continuous Bernoulli distribution."""

import math

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions import constraints
from tandem.distributions.exp_family import ExponentialFamily
from tandem.distributions.probs_or_logits import ProbsOrLogits, check_one_given
from tandem.distributions.utils import broadcast_all, clamp_probs
from tandem.nn import functional as F

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Numbers x from 0 to 1 with a density as p^x (1-p)^(1-x): Loaiza-Ganem and Cunningham (2019).

    For probabilities within `lims` its formulas, which divide by 1 - 2p, are replaced by their series about 1/2.
    """

    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        check_one_given(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
            if validate_args is not None and not bool(self.arg_constraints["probs"].check(self.probs).all()):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._lims = lims
        super().__init__(self._given().shape, validate_args=validate_args)

    def _away(self):
        """Where the formulas are used, and probabilities for which they are harmless."""
        away = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        return away, _C.where(away, self.probs, _C.full_like(self.probs, self._lims[0]))

    def _log_norm(self):
        away, p = self._away()
        formula = _C.log((_C.log1p(-p) - _C.log(p)).abs()) - _C.log((1 - 2 * p).abs())
        x = (self.probs - 0.5).pow(2)
        return _C.where(away, formula, math.log(2.0) + (4 / 3 + 104 / 45 * x) * x)

    @property
    def mean(self):
        away, p = self._away()
        x = self.probs - 0.5
        return _C.where(away, p / (2 * p - 1) + 1 / (_C.log1p(-p) - _C.log(p)), 0.5 + (1 / 3 + 16 / 45 * x.pow(2)) * x)

    @property
    def variance(self):
        away, p = self._away()
        x = (self.probs - 0.5).pow(2)
        formula = p * (p - 1) / (1 - 2 * p).pow(2) + 1 / (_C.log1p(-p) - _C.log(p)).pow(2)
        return _C.where(away, formula, 1 / 12 - (1 / 15 - 128 / 945 * x) * x)

    def sample(self, sample_shape=()):
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.icdf(_C.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return self._log_norm() - F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def cdf(self, value):
        self._validate_sample(value)
        away, p = self._away()
        formula = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        return _C.where(away, formula, value + _C.zeros_like(p)).clamp(0, 1)

    def icdf(self, value):
        away, p = self._away()
        formula = (_C.log1p(-p + value * (2 * p - 1)) - _C.log1p(-p)) / (_C.log(p) - _C.log1p(-p))
        return _C.where(away, formula, value + _C.zeros_like(p))

    def entropy(self):
        log_none, log_one = _C.log1p(-self.probs), _C.log(self.probs)
        return self.mean * (log_none - log_one) - self._log_norm() - log_none

    _natural_params = property(lambda self: (self.logits,))

    def _log_normalizer(self, x):
        away = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        far = _C.where(away, x, _C.full_like(x, self._lims[0] - 0.5))
        series = 0.5 * x + x.pow(2) / 24 - x.pow(4) / 2880
        return _C.where(away, _C.log(far.expm1().abs()) - _C.log(far.abs()), series)
