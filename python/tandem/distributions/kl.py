"""How far distributions are apart: kl_divergence, of two of one kind. kl_pairs has those of different kinds."""

import warnings

import tandem
from tandem import _C
from tandem._functions import broadcast_shapes
from tandem.distributions.bernoulli import Bernoulli
from tandem.distributions.binomial import Binomial
from tandem.distributions.categorical import Categorical
from tandem.distributions.cauchy import Cauchy
from tandem.distributions.dirichlet import Dirichlet
from tandem.distributions.exp_family import ExponentialFamily
from tandem.distributions.exponential import Exponential
from tandem.distributions.geometric import Geometric
from tandem.distributions.half_normal import HalfNormal
from tandem.distributions.independent import Independent
from tandem.distributions.laplace import Laplace
from tandem.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal, lowrank_log_determinant, lowrank_mahalanobis
from tandem.distributions.multivariate_normal import MultivariateNormal, half_log_determinant, mahalanobis
from tandem.distributions.normal import Normal
from tandem.distributions.one_hot_categorical import OneHotCategorical
from tandem.distributions.poisson import Poisson
from tandem.distributions.transformed_distribution import TransformedDistribution
from tandem.distributions.uniform import Uniform
from tandem.distributions.utils import sum_rightmost
from tandem.distributions.wishart import Wishart, multivariate_digamma
from tandem.nn import functional as F
from tandem.special import multigammaln

__all__ = ["kl_divergence", "register_kl"]

_functions = {}


def register_kl(type_p, type_q):
    """A decorator: the function tells kl_divergence of these two kinds. Any classes: other libraries have distributions of their own."""
    for one, name in ((type_p, "type_p"), (type_q, "type_q")):
        if not isinstance(one, type):
            raise TypeError(f"issubclass() arg 1 must be a class, but {name} is {one}")

    def register(function):
        _functions[type_p, type_q] = function
        return function

    return register


def _fitting(type_p, type_q):
    """The function of the nearest kinds: nearest to p, and among those nearest to q; a warning where nearest to q is another."""
    order_p, order_q = type_p.__mro__, type_q.__mro__
    found = [(order_p.index(a), order_q.index(b)) for a, b in _functions if a in order_p and b in order_q]
    if not found:
        return None
    left, right = min(found), min(found, key=lambda one: one[::-1])
    if left != right and _functions[order_p[left[0]], order_q[left[1]]] is not _functions[order_p[right[0]], order_q[right[1]]]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl"
            f"({order_p[left[0]].__name__}, {order_q[right[1]].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _functions[order_p[left[0]], order_q[left[1]]]


def kl_divergence(p, q):
    """The Kullback-Leibler divergence of q from p; NotImplementedError for kinds without a formula."""
    function = _fitting(type(p), type(q))
    if function is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return function(p, q)


def infinite_where(wrong, value):
    """The value, and infinity where `wrong`."""
    return _C.where(wrong, _C.full_like(value, float("inf")), value)


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    none = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    one = _C.where(p.probs == 0, _C.zeros_like(one), infinite_where((q.probs == 0) & (p.probs != 0), one))
    return one + _C.where(p.probs == 1, _C.zeros_like(none), infinite_where((q.probs == 1) & (p.probs != 1), none))


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    terms = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return infinite_where(p.total_count > q.total_count, p.total_count * terms)


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = infinite_where((q.probs == 0).expand_as(terms), terms)
    return _C.where((p.probs == 0).expand_as(terms), _C.zeros_like(terms), terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - _C.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    return infinite_where((q.low > p.low) | (q.high < p.high), _C.log((q.high - q.low) / (p.high - p.low)))


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * _C.exp(-apart / p.scale) - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    wide = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return wide.log() - (4 * p.scale * q.scale).log()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    norms = _C.lgamma(total) - _C.lgamma(b.sum(-1)) - (_C.lgamma(a) - _C.lgamma(b)).sum(-1)
    return norms + ((a - b) * (_C.digamma(a) - _C.digamma(total).unsqueeze(-1))).sum(-1)


def _check_sizes(kind, p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {kind} with different event shapes cannot be computed")


def _spread(factor, columns):
    """The sum of the squares of L^-1 columns."""
    batch = broadcast_shapes(factor.shape[:-2], columns.shape[:-2])
    factor, columns = factor.expand((*batch, *factor.shape[-2:])), columns.expand((*batch, *columns.shape[-2:]))
    return _C._linalg["solve_triangular"](factor, columns, upper=False).pow(2).sum((-2, -1))


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    _check_sizes("Multivariate Normals", p, q)
    of_p, of_q = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    quadratic = _spread(of_q, of_p) + mahalanobis(of_q, q.loc - p.loc)
    return half_log_determinant(of_q) - half_log_determinant(of_p) + 0.5 * (quadratic - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal_lowrank(p, q):
    _check_sizes("(Low Rank) Multivariate Normals", p, q)
    of_p = p._unbroadcasted_scale_tril
    log_determinants = lowrank_log_determinant(q.cov_diag, q._capacitance) - 2 * half_log_determinant(of_p)
    return 0.5 * (log_determinants + _lowrank_trace(q, of_p) + _lowrank_apart(p, q) - p.event_shape[0])


def _lowrank_trace(q, columns):
    """The trace of q's precision times columns columnsᵀ."""
    scaled = columns / q.cov_diag.sqrt().unsqueeze(-1)
    inner = q.cov_factor.mT @ (columns / q.cov_diag.unsqueeze(-1))
    return scaled.pow(2).sum((-2, -1)) - _spread(q._capacitance, inner)


def _lowrank_apart(p, q):
    return lowrank_mahalanobis(q.cov_factor, q.cov_diag, q.loc - p.loc, q._capacitance)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _lowrank(p, q):
    _check_sizes("Low Rank Multivariate Normals", p, q)
    log_determinants = lowrank_log_determinant(q.cov_diag, q._capacitance) - lowrank_log_determinant(p.cov_diag, p._capacitance)
    trace = _lowrank_trace(q, p.cov_factor) + _lowrank_trace(q, _C.diag_embed(p.cov_diag.sqrt()))
    return 0.5 * (log_determinants + trace + _lowrank_apart(p, q) - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _lowrank_multivariate_normal(p, q):
    _check_sizes("(Low Rank) Multivariate Normals", p, q)
    of_q = q._unbroadcasted_scale_tril
    log_determinants = 2 * half_log_determinant(of_q) - lowrank_log_determinant(p.cov_diag, p._capacitance)
    trace = _spread(of_q, p.cov_factor) + _spread(of_q, _C.diag_embed(p.cov_diag.sqrt()))
    return 0.5 * (log_determinants + trace + mahalanobis(of_q, q.loc - p.loc) - p.event_shape[0])


@register_kl(Wishart, Wishart)
def _wishart(p, q):
    _check_sizes("Wisharts", p, q)
    n = p.event_shape[-1]
    of_p, of_q = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    log_determinants = q.df * (half_log_determinant(of_q) - half_log_determinant(of_p))
    norms = multigammaln(q.df / 2, n) - multigammaln(p.df / 2, n)
    return log_determinants + 0.5 * p.df * (_spread(of_q, of_p) - n) + norms + (p.df - q.df) / 2 * multivariate_digamma(p.df / 2, n)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p, q):
    """Of one family: how far q's normalizer is above its tangent at p."""
    if type(p) is not type(q):
        raise NotImplementedError(
            f"The cross KL-divergence between different exponential families cannot be computed using Bregman divergences"
            f": {type(p).__name__} and {type(q).__name__}"
        )
    of_p, of_q = [one.detach().requires_grad_() for one in p._natural_params], q._natural_params
    with tandem.enable_grad():
        normalizer = p._log_normalizer(*of_p)
        means = tandem.autograd.grad(normalizer.sum(), of_p, create_graph=True)
    result = q._log_normalizer(*of_q) - normalizer
    for a, b, mean in zip(of_p, of_q, means):
        result = result - sum_rightmost((b - a) * mean, a.dim() - len(q.batch_shape))
    return result


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)
