#include "distributions/sampling.h"

#include <cmath>
#include <limits>

#include "autograd/function.h"
#include "base/error.h"
#include "base/work_site.h"
#include "distributions/incomplete_gamma.h"
#include "distributions/numeric.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/operators.h"
#include "ops/random.h"

namespace tandem::distributions::detail {
namespace {

/// What one round of a rejection gives: values, and whether they are accepted.
struct Round {
  Tensor values, accepted;
};

/// A value of float64 for each of `count` elements: those that draw(places) accepts, drawn again until all are. draw must accept what is
/// nan.
template <class Draw>
Tensor until_accepted(int64_t count, Device device, const Draw& draw) {
  Tensor result = empty({count}, {.dtype = kFloat64, .device = device});
  Tensor places = arange(count, {.device = device});
  while (places.numel() > 0) {
    const Round round = draw(places);
    result = result.index_copy(0, places.masked_select(round.accepted), round.values.masked_select(round.accepted));
    places = places.masked_select(round.accepted.logical_not());
  }
  return result;
}

/// Uniform numbers above 0 and below 1, of float64, one for each place.
Tensor open_uniform(const Tensor& places) {
  return rand(places.sizes(), {.dtype = kFloat64, .device = places.device()}).clamp(std::ldexp(1.0, -53));
}

Tensor chosen(const Tensor& x, const Tensor& places) { return x.index_select(0, places); }

/// The logarithms of gamma samples of rate 1, of float64. G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables"
/// (2000).
Tensor log_gamma_samples(const Tensor& concentration) {
  const Tensor a = concentration.reshape({-1});
  const Tensor is_small = a < 1;
  const Tensor d = where(is_small, a + 1, a) - 1.0 / 3;  // a sample for a + 1 times u^(1/a) is one for a
  const Tensor c = (9 * d).rsqrt();
  const Tensor result = until_accepted(a.numel(), a.device(), [&](const Tensor& places) -> Round {
    const Tensor z = randn(places.sizes(), {.dtype = kFloat64, .device = a.device()});
    const Tensor here = chosen(d, places);
    const Tensor root = 1 + chosen(c, places) * z;
    const Tensor cube = root.clamp(1e-30).pow(3);
    const Tensor height = 0.5 * z * z + here - here * cube + here * cube.log();
    const Tensor rejected = (root <= 0) | (open_uniform(places).log() >= height);
    return {(here * cube).log(), rejected.logical_not()};
  });
  const Tensor known = where(a < 0, std::numeric_limits<double>::quiet_NaN(), result);
  return where(is_small, known + open_uniform(a).log() / a, known).reshape(concentration.sizes());
}

/// A slope that is a number for gradients: they cannot be differentiated once more.
struct Slope : autograd::Function<Slope> {
  static Tensor forward(autograd::Context&, const Tensor& slope, const Tensor&) { return slope; }
  static std::vector<Tensor> backward(autograd::Context&, const std::vector<Tensor>&) {
    fail<NotImplementedError>(
        "[rsample] the gradient of gamma, beta, Dirichlet and Student's t samples by a concentration has no gradient");
  }
};

struct Gamma : autograd::Function<Gamma> {
  static Tensor forward(autograd::Context& context, const Tensor& concentration, Site site) {
    const DType dtype = concentration.dtype();
    const Tensor sample = log_gamma_samples(concentration.detach().to(kFloat64)).exp().to(dtype).clamp(tiny(dtype));
    context.save_for_backward({concentration, sample});
    context.save_value("site", site);
    return sample;
  }
  static std::vector<Tensor> backward(autograd::Context& context, const std::vector<Tensor>& grads) {
    const tandem::detail::ComposedAt line(context.value<Site>("site"));
    const std::vector<Tensor> saved = context.saved();
    const auto slope = [&] {
      const NoGradGuard no_grad;
      return gamma_sample_slope(saved[0].detach().to(kFloat64), saved[1].detach().to(kFloat64)).to(saved[0].dtype());
    };
    return {grads[0] * Slope::apply(slope(), saved[0])};
  }
};

struct Dirichlet : autograd::Function<Dirichlet> {
  static Tensor forward(autograd::Context& context, const Tensor& concentration, Site site) {
    const DType dtype = concentration.dtype();
    const Tensor logs = log_gamma_samples(concentration.detach().to(kFloat64));
    const Tensor wide = (logs - logs.logsumexp({-1}, true)).exp();
    context.save_for_backward({concentration, wide});
    context.save_value("site", site);
    return wide.to(dtype).clamp(tiny(dtype), 1 - epsilon(dtype) / 2);
  }
  /// Moves each share at its quantile, and the others in proportion.
  static std::vector<Tensor> backward(autograd::Context& context, const std::vector<Tensor>& grads) {
    const tandem::detail::ComposedAt line(context.value<Site>("site"));
    const std::vector<Tensor> saved = context.saved();
    const Tensor x = saved[1].clamp(1e-300, 1);
    Tensor rest, slope;
    {
      const NoGradGuard no_grad;
      const Tensor a = saved[0].detach().to(kFloat64);
      // 1 - x as the sum of the others, which keeps its digits where x is near 1.
      const Tensor is_small = x < 0.5;
      rest = where(is_small, 1 - x, where(is_small, x, 0.0).sum(-1, true)).clamp(1e-300);
      slope = beta_sample_slope(a, (a.sum(-1, true) - a).clamp(1e-300), x, rest);
    }
    const Tensor wide = grads[0].to(kFloat64);
    return {Slope::apply(slope, saved[0]) * (wide - (x * wide).sum(-1, true)) / rest};
  }
};

/// Counts, whose mean is below 10: the first k at which the sum of probabilities reaches a uniform number. first: p(0); ratio(k): p(k) /
/// p(k - 1).
template <class Ratio>
Tensor by_inversion(const Tensor& first, const Ratio& ratio) {
  const Tensor u = open_uniform(first);
  Tensor probability = first, total = first, count = zeros_like(u);
  for (int k = 1; k <= 200; ++k) {
    const Tensor below = u > total;
    if (!below.any()) break;
    count = count + below;
    probability = probability * ratio(k);
    total = total + probability;
  }
  return count;
}

/// For each element of a vector, what `low` gives for the places where `is_high` is false, and `high` for the others.
template <class Low, class High>
Tensor by_size(const Tensor& is_high, const Low& low, const High& high) {
  Tensor result = zeros(is_high.sizes(), {.dtype = kFloat64, .device = is_high.device()});
  const Tensor places = arange(is_high.numel(), {.device = is_high.device()});
  const Tensor few = places.masked_select(is_high.logical_not()), many = places.masked_select(is_high);
  if (few.numel() > 0) result = result.index_copy(0, few, low(few));
  if (many.numel() > 0) result = result.index_copy(0, many, high(many));
  return result;
}

/// Where W. Hormann's transformed rejections take a value at once.
struct Squeeze {
  Tensor k, side, v, height;

  /// floor((2 a / side + b) u + center) of two uniform numbers, for elements of these places; height: a / side^2 + b.
  Squeeze(const Tensor& places, const Tensor& a, const Tensor& b, const Tensor& center) {
    const Tensor u = open_uniform(places) - 0.5;
    v = open_uniform(places);
    side = 0.5 - u.abs();
    const Tensor a_here = chosen(a, places), b_here = chosen(b, places);
    k = ((2 * a_here / side + b_here) * u + chosen(center, places)).floor();
    height = a_here / (side * side) + b_here;
  }
  [[nodiscard]] Tensor at_once(const Tensor& sure) const { return (side >= 0.07) & (v <= sure); }
};

/// Counts of means of 10 and more: W. Hormann, "The transformed rejection method for generating Poisson random variables" (1993), PTRS.
Tensor many_poisson(const Tensor& mean) {
  const Tensor b = 0.931 + 2.53 * mean.sqrt();
  const Tensor a = -0.059 + 0.02483 * b;
  const Tensor scale = (1.1239 + 1.1328 / (b - 3.4)).log();
  const Tensor sure = 0.9277 - 3.6224 / (b - 2);
  const Tensor log_mean = mean.log(), center = mean + 0.43;
  return until_accepted(mean.numel(), mean.device(), [&](const Tensor& places) -> Round {
    const Squeeze drawn(places, a, b, center);
    const Tensor good = drawn.k.clamp(0);
    const Tensor too_high = drawn.v.log() + chosen(scale, places) - drawn.height.log() >
                            good * chosen(log_mean, places) - chosen(mean, places) - (good + 1).lgamma();
    const Tensor never = (drawn.k < 0) | ((drawn.side < 0.013) & (drawn.v > drawn.side)) | too_high;
    return {drawn.k, drawn.at_once(chosen(sure, places)) | never.logical_not()};
  });
}

/// The same for binomial counts, BTRS. probs: 0.5 at most.
Tensor many_binomial(const Tensor& n, const Tensor& probs) {
  const Tensor deviation = (n * probs * (1 - probs)).sqrt();
  const Tensor b = 1.15 + 2.53 * deviation;
  const Tensor a = -0.0873 + 0.0248 * b + 0.01 * probs;
  const Tensor center = n * probs + 0.5, sure = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
  const Tensor log_odds = (probs / (1 - probs)).log();
  const Tensor mode = ((n + 1) * probs).floor();
  const Tensor top = (mode + 1).lgamma() + (n - mode + 1).lgamma();
  return until_accepted(n.numel(), n.device(), [&](const Tensor& places) -> Round {
    const Squeeze drawn(places, a, b, center);
    const Tensor n_here = chosen(n, places);
    const Tensor good = minimum(drawn.k.clamp(0), n_here);
    const Tensor too_high =
        (drawn.v * chosen(alpha, places) / drawn.height).log() >
        chosen(top, places) - (good + 1).lgamma() - (n_here - good + 1).lgamma() + (good - chosen(mode, places)) * chosen(log_odds, places);
    const Tensor outside = (drawn.k < 0) | (drawn.k > n_here);
    return {drawn.k, outside.logical_not() & (drawn.at_once(chosen(sure, places)) | too_high.logical_not())};
  });
}

}  // namespace

Tensor standard_normal(const Shape& sizes, const Tensor& like) { return randn(sizes, {.dtype = like.dtype(), .device = like.device()}); }

Tensor standard_uniform(const Shape& sizes, const Tensor& like) { return rand(sizes, {.dtype = like.dtype(), .device = like.device()}); }

Tensor wide_uniform(const Shape& sizes, const Tensor& like) {
  const DType dtype = compute_type(like.dtype());
  return rand(sizes, {.dtype = dtype, .device = like.device()}).clamp(tiny(dtype), 1 - epsilon(dtype) / 2);
}

Tensor standard_gamma(const Tensor& concentration) { return Gamma::apply(concentration, tandem::detail::site_of_work(Site::none())); }

Tensor standard_dirichlet(const Tensor& concentration) {
  return Dirichlet::apply(concentration, tandem::detail::site_of_work(Site::none()));
}

Tensor poisson(const Tensor& rate) {
  const Tensor rates = rate.detach().to(kFloat64).reshape({-1});
  if (!(rates >= 0).all()) fail<ValueError>("[Poisson] samples need rates of 0 or more");
  const Tensor counts = by_size(
      rates >= 10,
      [&](const Tensor& places) {
        const Tensor few = chosen(rates, places);
        return by_inversion((-few).exp(), [&](int k) { return few / k; });
      },
      [&](const Tensor& places) { return many_poisson(chosen(rates, places)); });
  return counts.reshape(rate.sizes()).to(rate.dtype());
}

Tensor binomial(const Tensor& count, const Tensor& probs) {
  const Tensor n = count.detach().to(kFloat64).reshape({-1}), p = probs.detach().to(kFloat64).reshape({-1});
  const Tensor seldom = p <= 0.5;
  const Tensor q = where(seldom, p, 1 - p);
  const Tensor counts = by_size(
      n * q >= 10,
      [&](const Tensor& places) {
        const Tensor n_here = chosen(n, places), q_here = chosen(q, places);
        const Tensor odds = q_here / (1 - q_here);
        return by_inversion((n_here * (-q_here).log1p()).exp(), [&](int k) { return (n_here - k + 1).clamp(0) * odds / k; });
      },
      [&](const Tensor& places) { return many_binomial(chosen(n, places), chosen(q, places)); });
  const Tensor known = where((n >= 0) & (p >= 0) & (p <= 1), where(seldom, counts, n - counts), std::numeric_limits<double>::quiet_NaN());
  return known.reshape(probs.sizes()).to(probs.dtype());
}

}  // namespace tandem::distributions::detail
