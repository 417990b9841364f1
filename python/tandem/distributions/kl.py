"""How far distributions are apart."""

from tandem import _C
from tandem.distributions.bernoulli import Bernoulli
from tandem.distributions.categorical import Categorical
from tandem.distributions.distribution import sum_rightmost
from tandem.distributions.exponential import Exponential
from tandem.distributions.independent import Independent
from tandem.distributions.laplace import Laplace
from tandem.distributions.multivariate_normal import MultivariateNormal
from tandem.distributions.normal import Normal
from tandem.distributions.one_hot_categorical import OneHotCategorical
from tandem.distributions.uniform import Uniform
from tandem.nn import functional as F

_functions = {}


def register_kl(type_p, type_q):
    """A decorator: the function tells kl_divergence of these two kinds."""

    def register(function):
        _functions[type_p, type_q] = function
        return function

    return register


def kl_divergence(p, q):
    """The Kullback-Leibler divergence of q from p; NotImplementedError for kinds without a formula."""
    fitting = [
        (type(p).__mro__.index(a) + type(q).__mro__.index(b), function)
        for (a, b), function in _functions.items()
        if isinstance(p, a) and isinstance(q, b)
    ]
    if not fitting:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return min(fitting, key=lambda one: one[0])[1](p, q)


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    return p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits)) + (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))


@register_kl(Categorical, Categorical)
@register_kl(OneHotCategorical, OneHotCategorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    return _C.where((p.probs == 0).expand_as(terms), _C.zeros_like(terms), terms).sum(-1)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    value = _C.log((q.high - q.low) / (p.high - p.low))
    return _C.where((q.low > p.low) | (q.high < p.high), _C.full_like(value, float("inf")), value)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * _C.exp(-apart / p.scale) - 1


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    solve = _C._linalg["solve_triangular"]
    spread = solve(q._factor, p._factor, upper=False).pow(2).sum((-2, -1))
    apart = solve(q._factor, (q.loc - p.loc).unsqueeze(-1), upper=False).pow(2).sum((-2, -1))
    return q._log_determinant() - p._log_determinant() + 0.5 * (spread + apart - p.loc.shape[-1])


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence: Independent distributions with different reinterpreted_batch_ndims")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
