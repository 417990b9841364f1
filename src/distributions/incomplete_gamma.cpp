#include "distributions/incomplete_gamma.h"

#include <cmath>
#include <limits>

#include "autograd/function.h"
#include "base/work_site.h"
#include "distributions/numeric.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/view.h"

// With t = x e^s the integrals of t^(a-1) e^-t from x to its smaller tail become those of a smooth function of s that falls from s = 0 on.
// They are taken by the trapezoid rule after s = L e^(u - e^-u), which makes both ends fall off doubly exponentially: H. Takahasi and M.
// Mori, "Double exponential formulas for numerical integration" (1974).
namespace tandem::distributions::detail {
namespace {

/// The integral over s from 0 of e^exponent(s) times factor(s). `start`: about where the exponent is -40, which Newton's method makes
/// precise.
template <class Exponent, class Slope, class Factor>
Tensor integral(const Exponent& exponent, const Slope& slope, const Factor& factor, const Tensor& start) {
  constexpr double kStep = 1.0 / 40;
  constexpr int kNodes = 184;
  Tensor reach = start;
  for (int i = 0; i < 4; ++i) reach = reach - (exponent(reach) + 40) / slope(reach);
  Tensor total;
  for (int n = 0; n < kNodes; ++n) {
    const double u = -3.75 + kStep * n;
    const double place = std::exp(u - std::exp(-u)), weight = kStep * place * (1 + std::exp(-u));
    const Tensor s = reach * place;
    const Tensor part = factor(s, exponent(s).exp() * weight);
    total = n == 0 ? part : total + part;
  }
  return total * reach;
}

/// About where an exponent that falls by `apart` a unit, and bends by `bend`, is -40.
Tensor first_reach(const Tensor& apart, const Tensor& bend) { return 80 / (apart + (apart * apart + 80 * bend).sqrt()); }

/// The integral over the tail of the gamma distribution on whose side x is, times -1 where that is the lower one and `factor` is given.
template <class Factor>
Tensor gamma_integral(const Tensor& a, const Tensor& x, const Tensor& lower, const Factor& factor) {
  const Tensor way = where(lower, -1, ones_like(x));
  const auto exponent = [&](const Tensor& s) { return way * a * s - x * (way * s).expm1(); };
  const auto slope = [&](const Tensor& s) { return way * (a - x * (way * s).exp()); };
  const Tensor start = first_reach((a - x).abs(), x);
  return integral(
      exponent, slope, [&](const Tensor& s, const Tensor& height) { return factor(way * s, height); },
      where(lower, start, minimum(start, (80 / x).log1p())));
}

/// The logarithm of x^a e^-x / gamma(a), without the cancellation that its three parts have for large a.
Tensor log_prefix(const Tensor& a, const Tensor& x) {
  const Tensor large = a > 20;
  const Tensor big = where(large, a, 20.0);
  const Tensor inverse = 1 / (big * big);
  const Tensor stirling = (1.0 / 12 - inverse * (1.0 / 360 - inverse * (1.0 / 1260 - inverse * (1.0 / 1680 - inverse / 1188)))) / big;
  const Tensor d = (x - big) / big;
  const Tensor near = d.abs() < 0.3;
  const Tensor small = where(near, d, 0.0);
  // log1p(d) - d by its series near 0, in powers of r = d / (2 + d): log1p(d) = 2 artanh(r).
  const Tensor r = small / (2 + small);
  const Tensor square = r * r;
  Tensor tail = zeros_like(r);
  for (int n = 23; n > 1; n -= 2) tail = (tail + 2.0 / n) * square;
  const Tensor difference = where(near, r * tail - small * r, (x / big).log() - d);
  const Tensor by_stirling = big * difference + 0.5 * (big / (2 * kPi)).log() - stirling;
  const Tensor some = where(large, 1.0, a);
  return where(large, by_stirling, some.xlogy(x) - x - some.lgamma());
}

/// Where both are above 0 and finite.
Tensor inside(const Tensor& a, const Tensor& x) { return (a > 0) & (x > 0) & a.isfinite() & x.isfinite(); }

/// P(a, x), of float64.
Tensor gamma_share(const Tensor& a_given, const Tensor& x_given) {
  const Tensor good = inside(a_given, x_given);
  const Tensor a = where(good, a_given, 1.0), x = where(good, x_given, 1.0);
  const Tensor lower = x <= a;
  const Tensor area = gamma_integral(a, x, lower, [](const Tensor&, const Tensor& height) { return height; });
  const Tensor share = (log_prefix(a, x).exp() * area).clamp(0, 1);
  const Tensor below = where(lower, share, 1 - share);
  const Tensor wrong = (a_given > 0).logical_and(x_given >= 0).logical_not() | (a_given.isinf() & x_given.isinf());
  const Tensor at_ends = where(x_given.isinf(), 1.0, zeros_like(x));
  return where(wrong, std::numeric_limits<double>::quiet_NaN(), where(good, below, at_ends));
}

struct Gammainc : autograd::Function<Gammainc> {
  static Tensor forward(autograd::Context& context, const Tensor& a, const Tensor& x, Site site) {
    context.save_for_backward({a, x});
    context.save_value("site", site);
    return gamma_share(a, x);
  }
  static std::vector<Tensor> backward(autograd::Context& context, const std::vector<Tensor>& grads) {
    const tandem::detail::ComposedAt line(context.value<Site>("site"));
    const std::vector<Tensor> saved = context.saved();
    const Tensor &a = saved[0], &x = saved[1];
    const Tensor by_x = grads[0] * ((a - 1).xlogy(x) - x - a.lgamma()).exp();
    Tensor by_a;
    if (context.needs_input_grad(0)) {
      const Tensor good = inside(a, x);
      by_a = where(good, -gamma_sample_slope(where(good, a, 1.0), where(good, x, 1.0)) * by_x, 0.0);
    }
    return {by_a, by_x};
  }
};

}  // namespace

Tensor gammainc(const Tensor& a, const Tensor& x) {
  const std::vector<Tensor> both = broadcast_tensors({a, x});
  return Gammainc::apply(both[0].to(kFloat64), both[1].to(kFloat64), tandem::detail::site_of_work(Site::none()))
      .to(promote_types(a.dtype(), x.dtype()));
}

Tensor gamma_sample_slope(const Tensor& a, const Tensor& x) {
  const Tensor lower = x <= a;
  const Tensor apart = x.log() - a.digamma();
  const Tensor moment = gamma_integral(a, x, lower, [&](const Tensor& moved, const Tensor& height) { return height * (apart + moved); });
  return x * where(lower, -moment, moment);
}

Tensor beta_sample_slope(const Tensor& a, const Tensor& b, const Tensor& x, const Tensor& rest) {
  // Over the smaller tail, in logits; on the upper side the roles of x and 1 - x, and of a and b, are exchanged.
  const Tensor lower = x * b <= a * rest;
  const Tensor p = where(lower, a, b);
  const Tensor t = where(lower, x, rest), other = where(lower, rest, x), total = a + b;
  const auto fall = [&](const Tensor& s) { return (t * (-s).expm1()).log1p(); };
  const auto exponent = [&](const Tensor& s) { return -p * s - total * fall(s); };
  const auto slope = [&](const Tensor& s) {
    const Tensor moved = t * (-s).exp();
    return -p + total * moved / (moved + other);
  };
  const Tensor center = a.digamma() - total.digamma();
  const Tensor log_t = t.log(), log_other = other.log();
  const auto factor = [&](const Tensor& s, const Tensor& height) {
    const Tensor less = fall(s);
    return height * (where(lower, log_t - s - less, log_other - less) - center);
  };
  const Tensor moment = integral(exponent, slope, factor, first_reach((p - total * t).abs(), total * t * other));
  return x * rest * where(lower, -moment, moment);
}

}  // namespace tandem::distributions::detail
