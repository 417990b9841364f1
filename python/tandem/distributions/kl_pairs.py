"""Divergences of distributions of numbers of different kinds: -entropy(p) less the mean under p of the logarithm of q's density."""

import math

from tandem import _C
from tandem.distributions.bernoulli import Bernoulli
from tandem.distributions.beta import Beta
from tandem.distributions.binomial import Binomial
from tandem.distributions.continuous_bernoulli import ContinuousBernoulli
from tandem.distributions.exponential import Exponential
from tandem.distributions.gamma import Gamma
from tandem.distributions.gumbel import Gumbel
from tandem.distributions.kl import infinite_where, register_kl
from tandem.distributions.laplace import Laplace
from tandem.distributions.normal import Normal
from tandem.distributions.pareto import Pareto
from tandem.distributions.poisson import Poisson
from tandem.distributions.sampling import log_beta
from tandem.distributions.uniform import Uniform
from tandem.distributions.utils import EULER, LOG_SQRT_2_PI


def _several(kinds, kind_q):
    """Registers a function for several kinds of p."""

    def register(function):
        for kind in kinds:
            register_kl(kind, kind_q)(function)
        return function

    return register


# --- The mean of log x and of log(1 - x), and where values begin and end


def _mean_log(p):
    if isinstance(p, Beta):
        return _C.digamma(p.concentration1) - _C.digamma(p.concentration1 + p.concentration0)
    if isinstance(p, Exponential):
        return -EULER - p.rate.log()
    if isinstance(p, Gamma):
        return _C.digamma(p.concentration) - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return (_C.xlogy(p.high, p.high) - _C.xlogy(p.low, p.low)) / (p.high - p.low) - 1


def _mean_log_of_rest(p):
    if isinstance(p, Beta):
        return _C.digamma(p.concentration0) - _C.digamma(p.concentration1 + p.concentration0)
    return (_C.xlogy(1 - p.low, 1 - p.low) - _C.xlogy(1 - p.high, 1 - p.high)) / (p.high - p.low) - 1


def _ends(p):
    """Where the values of p begin and end."""
    if isinstance(p, (Beta, ContinuousBernoulli)):
        return 0.0, 1.0
    if isinstance(p, Uniform):
        return p.low, p.high
    return p.scale, math.inf


def _outside(p, low, high):
    """Whether p has values outside of an interval."""
    start, end = _ends(p)
    return (low > start) | (high < end)


# --- Pairs by q


@_several([Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform], Normal)
def _to_normal(p, q):
    spread = (p.variance + (p.mean - q.loc).pow(2)) / (2 * q.scale.pow(2))
    return -p.entropy() + q.scale.log() + LOG_SQRT_2_PI + spread


@_several([Beta, ContinuousBernoulli, Gamma, Pareto], Exponential)
def _to_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    return infinite_where(p.low < 0, _to_exponential(p, q))


@_several([Beta, Exponential, Gamma, Pareto], Gamma)
def _to_gamma(p, q):
    density = q.concentration * q.rate.log() - _C.lgamma(q.concentration) + (q.concentration - 1) * _mean_log(p) - q.rate * p.mean
    return -p.entropy() - density


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    return infinite_where(p.low < 0, _to_gamma(p, q))


def _to_beta(p, q):
    density = (q.concentration1 - 1) * _mean_log(p) + (q.concentration0 - 1) * _mean_log_of_rest(p)
    return -p.entropy() - density + log_beta(q.concentration1, q.concentration0)


register_kl(Beta, Beta)(_to_beta)


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    return infinite_where((p.high > 1) | (p.low < 0), _to_beta(p, q))


@_several([Beta, ContinuousBernoulli], ContinuousBernoulli)
def _to_continuous_bernoulli(p, q):
    return -p.entropy() - p.mean * q.logits - _C.log1p(-q.probs) - q._log_norm()


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    return infinite_where((p.high > 1) | (p.low < 0), _to_continuous_bernoulli(p, q))


@_several([Beta, ContinuousBernoulli], Uniform)
def _to_uniform(p, q):
    return infinite_where(_outside(p, q.low, q.high), -p.entropy() + (q.high - q.low).log())


@_several([Pareto, Uniform], Pareto)
def _to_pareto(p, q):
    density = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p)
    return infinite_where(_ends(p)[0] < q.scale, -p.entropy() - density)


def _mean_decay(p, scale):
    """The mean of exp(-x / scale), without the part of p's location, and that location."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + scale.reciprocal()), 0.0
    if isinstance(p, Gamma):
        return (1 + (scale * p.rate).reciprocal()).pow(-p.concentration), 0.0
    if isinstance(p, Gumbel):
        return _C.exp(_C.lgamma(1 + p.scale / scale)), p.loc
    if isinstance(p, Normal):
        return _C.exp(0.5 * (p.scale / scale).pow(2)), p.loc
    width = (p.high - p.low) / scale
    return -_C.expm1(-width) / width, p.low


@_several([Exponential, Gamma, Gumbel, Normal, Uniform], Gumbel)
def _to_gumbel(p, q):
    decay, loc = _mean_decay(p, q.scale)
    return -p.entropy() + q.scale.log() + (p.mean - q.loc) / q.scale + _C.exp((q.loc - loc) / q.scale) * decay


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    apart = (p.loc - q.loc) / (p.scale * math.sqrt(2))
    distance = p.scale * math.sqrt(2) * (_C.exp(-apart.pow(2)) / math.sqrt(math.pi) + apart * _C.erf(apart))
    return -p.entropy() + (2 * q.scale).log() + distance / q.scale


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


# --- Pairs where p always has values that q has not


def _never(p, q):
    like = next(value for value in p.__dict__.values() if isinstance(value, _C.Tensor)) if not isinstance(p, Beta) else p.concentration1
    return _C.full_like(like, math.inf)


for _kinds, _q in (
    ((Exponential, Gamma, Gumbel, Laplace, Normal, Pareto), Beta),
    ((Exponential, Gamma, Gumbel, Laplace, Normal, Pareto), ContinuousBernoulli),
    ((Exponential, Gamma, Gumbel, Laplace, Normal, Pareto), Uniform),
    ((Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Normal), Pareto),
    ((Gumbel, Laplace, Normal), Exponential),
    ((Gumbel, Laplace, Normal), Gamma),
    ((Poisson,), Bernoulli),
    ((Poisson,), Binomial),
):
    _several(_kinds, _q)(_never)
