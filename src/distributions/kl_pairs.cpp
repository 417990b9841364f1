// Divergences of distributions of different classes: -entropy(p) less the mean under p of the logarithm of q's density.
#include <limits>

#include "distributions/bernoulli.h"
#include "distributions/dirichlet.h"
#include "distributions/gamma.h"
#include "distributions/kl_rules.h"
#include "distributions/location_scale.h"
#include "distributions/normal.h"
#include "distributions/numeric.h"
#include "distributions/poisson.h"
#include "distributions/uniform.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"

namespace tandem::distributions {
namespace {

using detail::infinite_where;

// --- The mean of log x and of log(1 - x)

Tensor mean_log(const Beta& p) { return p.concentration1().digamma() - (p.concentration1() + p.concentration0()).digamma(); }
Tensor mean_log(const Exponential& p) { return -detail::kEuler - p.rate().log(); }
Tensor mean_log(const Uniform& p) { return (p.high().xlogy(p.high()) - p.low().xlogy(p.low())) / (p.high() - p.low()) - 1; }

Tensor mean_log_of_rest(const Beta& p) { return p.concentration0().digamma() - (p.concentration1() + p.concentration0()).digamma(); }
Tensor mean_log_of_rest(const Uniform& p) {
  const Tensor low = 1 - p.low(), high = 1 - p.high();
  return (low.xlogy(low) - high.xlogy(high)) / (p.high() - p.low()) - 1;
}

// --- By q

Tensor to_normal(const Distribution& p, const Normal& q) {
  const Tensor spread = (p.variance() + (p.mean() - q.loc()).square()) / (2 * q.scale().square());
  return -p.entropy() + q.scale().log() + detail::kLogSqrt2Pi + spread;
}
Tensor to_exponential(const Distribution& p, const Exponential& q) { return -p.entropy() - q.rate().log() + q.rate() * p.mean(); }
Tensor to_gamma(const Distribution& p, const Tensor& log, const Gamma& q) {
  const Tensor a = q.concentration(), b = q.rate();
  return -p.entropy() - (a * b.log() - a.lgamma() + (a - 1) * log - b * p.mean());
}
Tensor to_beta(const Distribution& p, const Tensor& log, const Tensor& log_of_rest, const Beta& q) {
  const Tensor a = q.concentration1(), b = q.concentration0();
  return -p.entropy() - ((a - 1) * log + (b - 1) * log_of_rest) + a.lgamma() + b.lgamma() - (a + b).lgamma();
}
/// decay: the mean of exp((loc - x) / scale of q).
Tensor to_gumbel(const Distribution& p, const Tensor& decay, const Tensor& loc, const Gumbel& q) {
  return -p.entropy() + q.scale().log() + (p.mean() - q.loc()) / q.scale() + ((q.loc() - loc) / q.scale()).exp() * decay;
}

template <class P>
Tensor normal(const P& p, const Normal& q) {
  return to_normal(p, q);
}
template <class P>
Tensor exponential(const P& p, const Exponential& q) {
  return to_exponential(p, q);
}
Tensor uniform_exponential(const Uniform& p, const Exponential& q) { return infinite_where(p.low() < 0, to_exponential(p, q)); }
template <class P>
Tensor gamma(const P& p, const Gamma& q) {
  return to_gamma(p, mean_log(p), q);
}
Tensor uniform_gamma(const Uniform& p, const Gamma& q) { return infinite_where(p.low() < 0, gamma(p, q)); }
Tensor beta_beta(const Beta& p, const Beta& q) { return to_beta(p, mean_log(p), mean_log_of_rest(p), q); }
Tensor uniform_beta(const Uniform& p, const Beta& q) {
  return infinite_where((p.high() > 1) | (p.low() < 0), to_beta(p, mean_log(p), mean_log_of_rest(p), q));
}
Tensor beta_uniform(const Beta& p, const Uniform& q) {
  return infinite_where((q.low() > 0) | (q.high() < 1), -p.entropy() + (q.high() - q.low()).log());
}

Tensor exponential_gumbel(const Exponential& p, const Gumbel& q) {
  return to_gumbel(p, p.rate() / (p.rate() + q.scale().reciprocal()), zeros_like(p.rate()), q);
}
Tensor gamma_gumbel(const Gamma& p, const Gumbel& q) {
  const Tensor rate = p.rate();
  return to_gumbel(p, (1 + (q.scale() * rate).reciprocal()).pow(-p.concentration()), zeros_like(rate), q);
}
Tensor gumbel_gumbel(const Gumbel& p, const Gumbel& q) { return to_gumbel(p, (1 + p.scale() / q.scale()).lgamma().exp(), p.loc(), q); }
Tensor normal_gumbel(const Normal& p, const Gumbel& q) { return to_gumbel(p, (0.5 * (p.scale() / q.scale()).square()).exp(), p.loc(), q); }
Tensor uniform_gumbel(const Uniform& p, const Gumbel& q) {
  const Tensor width = (p.high() - p.low()) / q.scale();
  return to_gumbel(p, -(-width).expm1() / width, p.low(), q);
}

Tensor normal_laplace(const Normal& p, const Laplace& q) {
  const Tensor wide = p.scale() * std::numbers::sqrt2, apart = (p.loc() - q.loc()) / wide;
  const Tensor distance = wide * ((-apart.square()).exp() * std::numbers::inv_sqrtpi + apart * apart.erf());
  return -p.entropy() + (2 * q.scale()).log() + distance / q.scale();
}

Tensor bernoulli_poisson(const Bernoulli& p, const Poisson& q) { return -p.entropy() - (p.probs() * q.rate().log() - q.rate()); }

/// Of two that p has values outside of q's.
template <class P, class Q>
Tensor never(const P& p, const Q& q) {
  const Tensor both = p.parameters()[0].value + q.parameters()[0].value;
  return full_like(both, std::numeric_limits<double>::infinity(),
                   {.dtype = is_floating(both.dtype()) ? both.dtype() : get_default_dtype()});
}

template <auto formula>
constexpr detail::KlRule rule = detail::KlOf<formula>::rule;

}  // namespace

// clang-format off
std::span<const detail::KlRule> detail::kl_of_pairs() {
  static constexpr KlRule kRules[] = {
      rule<&normal<Beta>>, rule<&normal<Exponential>>, rule<&normal<Gamma>>, rule<&normal<Gumbel>>, rule<&normal<Laplace>>, rule<&normal<Uniform>>,
      rule<&exponential<Beta>>, rule<&exponential<Gamma>>, rule<&uniform_exponential>,
      rule<&gamma<Beta>>, rule<&gamma<Exponential>>, rule<&uniform_gamma>,
      rule<&beta_beta>, rule<&uniform_beta>, rule<&beta_uniform>,
      rule<&exponential_gumbel>, rule<&gamma_gumbel>, rule<&gumbel_gumbel>, rule<&normal_gumbel>, rule<&uniform_gumbel>,
      rule<&normal_laplace>, rule<&bernoulli_poisson>,
      rule<&never<Exponential, Beta>>, rule<&never<Gamma, Beta>>, rule<&never<Gumbel, Beta>>, rule<&never<Laplace, Beta>>, rule<&never<Normal, Beta>>,
      rule<&never<Exponential, Uniform>>, rule<&never<Gamma, Uniform>>, rule<&never<Gumbel, Uniform>>, rule<&never<Laplace, Uniform>>,
      rule<&never<Normal, Uniform>>,
      rule<&never<Gumbel, Exponential>>, rule<&never<Laplace, Exponential>>, rule<&never<Normal, Exponential>>,
      rule<&never<Gumbel, Gamma>>, rule<&never<Laplace, Gamma>>, rule<&never<Normal, Gamma>>,
      rule<&never<Poisson, Bernoulli>>, rule<&never<Poisson, Binomial>>};
  return kRules;
}
// clang-format on

}  // namespace tandem::distributions
