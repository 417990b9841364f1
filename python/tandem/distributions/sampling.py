"""Samples of the gamma, Dirichlet, Poisson and binomial distributions: by rejection, gamma's and Dirichlet's with gradients."""

import math

import tandem
from tandem import _C
from tandem.distributions.utils import eps_of, tiny_of
from tandem.special.incomplete import beta_sample_slope, gamma_sample_slope


def until_accepted(shape, like, draw):
    """Samples of draw(places), which gives values and whether they are rejected for elements of these numbers; again until none is. What
    is nan is not rejected: nothing that is drawn again would be another."""
    count = _C.Size(shape).numel()
    result = _C.empty(count, dtype=_C.float64, device=like.device)
    places = _C.arange(count, device=like.device)
    while places.numel():
        values, rejected = draw(places)
        result = result.index_copy(0, places[~rejected], values[~rejected])
        places = places[rejected]
    return result.reshape(tuple(shape))


def _uniform(places, generator):
    """Numbers above 0 and below 1, one for each place."""
    return _C.rand(places.numel(), dtype=_C.float64, device=places.device, generator=generator).clamp(min=2.0**-53)


def _log_gamma_samples(concentration, generator=None):
    """The logarithms of gamma samples of rate 1. float64. Marsaglia and Tsang, "A simple method for generating gamma variables" (2000)."""
    a = concentration.reshape(-1)
    # A sample for a + 1 times u^(1/a) is one for a.
    grown = _C.where(a < 1, a + 1, a)
    d = grown - 1 / 3
    c = 1 / (9 * d).sqrt()

    def draw(places):
        z = _C.randn(places.numel(), dtype=_C.float64, device=places.device, generator=generator)
        here = d[places]
        root = 1 + c[places] * z
        cube = root.clamp(min=1e-30) ** 3
        rejected = (root <= 0) | (_uniform(places, generator).log() >= 0.5 * z * z + here - here * cube + here * cube.log())
        return (here * cube).log(), rejected

    result = until_accepted(a.shape, a, draw)
    u = _C.rand(tuple(a.shape), dtype=_C.float64, device=a.device, generator=generator).clamp(min=2.0**-53)
    return _C.where(a < 1, result + u.log() / a, result).reshape(concentration.shape)


class _Gamma(tandem.autograd.Function):
    """Gamma samples; the gradient keeps the quantile: Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients" (2018)."""

    @staticmethod
    def forward(ctx, concentration):
        a = concentration.detach().to(_C.float64)
        sample = _log_gamma_samples(a).exp().to(concentration.dtype)
        sample = sample.clamp(min=tiny_of(sample.dtype))
        ctx.save_for_backward(concentration, sample)
        return sample

    @staticmethod
    @tandem.autograd.function.once_differentiable
    def backward(ctx, grad):
        a, sample = ctx.saved_tensors
        return grad * gamma_sample_slope(a.to(_C.float64), sample.to(_C.float64)).to(grad.dtype)


def standard_gamma(concentration):
    """Gamma samples of rate 1, differentiable by the concentration."""
    return _Gamma.apply(concentration)


class _Dirichlet(tandem.autograd.Function):
    """Dirichlet samples; the gradient moves each share at its quantile and the others in proportion."""

    @staticmethod
    def forward(ctx, concentration):
        logs = _log_gamma_samples(concentration.detach().to(_C.float64))
        wide = (logs - logs.logsumexp(-1, keepdim=True)).exp()
        sample = wide.to(concentration.dtype).clamp(tiny_of(concentration.dtype), 1 - eps_of(concentration.dtype) / 2)
        ctx.save_for_backward(concentration, wide)
        return sample

    @staticmethod
    @tandem.autograd.function.once_differentiable
    def backward(ctx, grad):
        concentration, x = ctx.saved_tensors
        a = concentration.to(_C.float64)
        x = x.clamp(1e-300, 1)
        # 1 - x as the sum of the others, which keeps its digits where x is near 1.
        rest = _C.where(x < 0.5, 1 - x, x.sum(-1, keepdim=True) - x)
        largest = (x >= 0.5).to(_C.float64)
        rest = _C.where(x < 0.5, rest, (x * (1 - largest)).sum(-1, keepdim=True).expand_as(x)).clamp(min=1e-300)
        slope = beta_sample_slope(a, (a.sum(-1, keepdim=True) - a).clamp(min=1e-300), x, rest)
        wide = grad.to(_C.float64)
        return (slope * (wide - (x * wide).sum(-1, keepdim=True)) / rest).to(grad.dtype)


def standard_dirichlet(concentration):
    """Dirichlet samples along the last dimension, differentiable by the concentration."""
    return _Dirichlet.apply(concentration)


def _by_inversion(places, start, ratio, generator):
    """Counts: the first k at which the sum of probabilities reaches a uniform number. start: p(0); ratio(k): p(k) / p(k - 1)."""
    u = _uniform(places, generator)
    probability, total, k = start, start, 0
    count = _C.zeros_like(u)
    while True:
        below = u > total
        if not bool(below.any()) or k > 200:
            return count
        k += 1
        count = count + below.to(_C.float64)
        probability = probability * ratio(k)
        total = total + probability


def poisson_samples(rate, generator=None):
    """Poisson counts, in rate's dtype. Below 10 by inversion, else by Hormann's transformed rejection (PTRS, 1993)."""
    rates = rate.detach().to(_C.float64).reshape(-1)
    big = rates >= 10
    result = _C.zeros_like(rates)
    low = (~big).nonzero().reshape(-1)
    if low.numel():
        small = rates[low]
        result = result.index_copy(0, low, _by_inversion(low, (-small).exp(), lambda k: small / k, generator))
    high = big.nonzero().reshape(-1)
    if high.numel():
        mean = rates[high]
        b = 0.931 + 2.53 * mean.sqrt()
        a = -0.059 + 0.02483 * b
        scale = (1.1239 + 1.1328 / (b - 3.4)).log()
        sure = 0.9277 - 3.6224 / (b - 2)
        log_mean = mean.log()

        def draw(places):
            u, v = _uniform(places, generator) - 0.5, _uniform(places, generator)
            side = 0.5 - u.abs()
            a_here, b_here, mean_here = a[places], b[places], mean[places]
            k = ((2 * a_here / side + b_here) * u + mean_here + 0.43).floor()
            good = k.clamp(min=0)
            height = v.log() + scale[places] - (a_here / (side * side) + b_here).log()
            too_high = height > good * log_mean[places] - mean_here - _C.lgamma(good + 1)
            at_once = (side >= 0.07) & (v <= sure[places])
            never = (k < 0) | ((side < 0.013) & (v > side))
            return k, ~at_once & (never | too_high)

        result = result.index_copy(0, high, until_accepted((high.numel(),), mean, draw))
    return result.reshape(rate.shape).to(rate.dtype)


def binomial_samples(count, prob, generator=None):
    """Binomial counts, in prob's dtype. Means below 10 by inversion, else by Hormann's transformed rejection (BTRS, 1993)."""
    n = count.detach().to(_C.float64).reshape(-1)
    p = prob.detach().to(_C.float64).reshape(-1)
    few = p <= 0.5
    q = _C.where(few, p, 1 - p)
    big = n * q >= 10
    result = _C.zeros_like(n)
    low = (~big).nonzero().reshape(-1)
    if low.numel():
        n_low, q_low = n[low], q[low]
        odds = q_low / (1 - q_low)
        start = (n_low * _C.log1p(-q_low)).exp()
        result = result.index_copy(0, low, _by_inversion(low, start, lambda k: (n_low - k + 1).clamp(min=0) * odds / k, generator))
    high = big.nonzero().reshape(-1)
    if high.numel():
        n_high, q_high = n[high], q[high]
        deviation = (n_high * q_high * (1 - q_high)).sqrt()
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * q_high
        center = n_high * q_high + 0.5
        sure = 0.92 - 4.2 / b
        alpha = (2.83 + 5.1 / b) * deviation
        log_odds = (q_high / (1 - q_high)).log()
        mode = ((n_high + 1) * q_high).floor()
        top = _C.lgamma(mode + 1) + _C.lgamma(n_high - mode + 1)

        def draw(places):
            u, v = _uniform(places, generator) - 0.5, _uniform(places, generator)
            side = 0.5 - u.abs()
            a_here, b_here, n_here = a[places], b[places], n_high[places]
            k = ((2 * a_here / side + b_here) * u + center[places]).floor()
            outside = (k < 0) | (k > n_here)
            good = _C.minimum(k.clamp(min=0), n_here)
            height = (v * alpha[places] / (a_here / (side * side) + b_here)).log()
            too_high = height > (
                top[places] - _C.lgamma(good + 1) - _C.lgamma(n_here - good + 1) + (good - mode[places]) * log_odds[places]
            )
            return k, outside | (~((side >= 0.07) & (v <= sure[places])) & too_high)

        result = result.index_copy(0, high, until_accepted((high.numel(),), n_high, draw))
    return _C.where(few, result, n - result).reshape(prob.shape).to(prob.dtype)


def log_beta(a, b):
    """The logarithm of the beta function."""
    return _C.lgamma(a) + _C.lgamma(b) - _C.lgamma(a + b)


def gumbel_samples(shape, dtype, device):
    """Samples of the standard Gumbel distribution."""
    drawn = _C.rand(tuple(shape), dtype=dtype, device=device).clamp(tiny_of(dtype), 1 - eps_of(dtype))
    return -(-drawn.log()).log()


HALF_LOG_PI = 0.5 * math.log(math.pi)
