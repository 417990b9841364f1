#include "distributions/kl.h"

#include "base/error.h"
#include "base/work_site.h"
#include "distributions/bernoulli.h"
#include "distributions/categorical.h"
#include "distributions/dirichlet.h"
#include "distributions/gamma.h"
#include "distributions/independent.h"
#include "distributions/kl_rules.h"
#include "distributions/location_scale.h"
#include "distributions/multivariate_normal.h"
#include "distributions/normal.h"
#include "distributions/numeric.h"
#include "distributions/poisson.h"
#include "distributions/uniform.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/reduce.h"

namespace tandem::distributions {
namespace {

using detail::infinite_where;

Tensor normal_divergence(const Tensor& p_loc, const Tensor& p_scale, const Tensor& q_loc, const Tensor& q_scale) {
  const Tensor ratio = (p_scale / q_scale).square();
  return 0.5 * (ratio + ((p_loc - q_loc) / q_scale).square() - 1 - ratio.log());
}
Tensor of_normals(const Normal& p, const Normal& q) { return normal_divergence(p.loc(), p.scale(), q.loc(), q.scale()); }
Tensor of_log_normals(const LogNormal& p, const LogNormal& q) { return normal_divergence(p.loc(), p.scale(), q.loc(), q.scale()); }
Tensor of_half_normals(const HalfNormal& p, const HalfNormal& q) {
  return normal_divergence(zeros_like(p.scale()), p.scale(), zeros_like(q.scale()), q.scale());
}

Tensor of_bernoullis(const Bernoulli& p, const Bernoulli& q) {
  const Tensor a = p.probs(), b = q.probs(), x = p.logits(), y = q.logits();
  const Tensor one = a * (softplus(-y) - softplus(-x));
  const Tensor none = (1 - a) * (softplus(y) - softplus(x));
  return where(a == 0, 0.0, infinite_where(b == 0, one)) + where(a == 1, 0.0, infinite_where(b == 1, none));
}

Tensor of_binomials(const Binomial& p, const Binomial& q) {
  const Tensor n = p.total_count(), m = q.total_count();
  if ((n < m).any())
    fail<NotImplementedError>("[kl_divergence] KL between Binomials where q.total_count > p.total_count is not implemented");
  const Tensor a = p.probs();
  return infinite_where(n > m, n * (a * (p.logits() - q.logits()) + (-a).log1p() - (-q.probs()).log1p()));
}

Tensor of_classes(const ByClasses& p, const ByClasses& q) {
  const Tensor a = p.probs(), terms = infinite_where(q.probs() == 0, a * (p.logits() - q.logits()));
  return where(a == 0, 0.0, terms).sum(-1);
}
Tensor of_categoricals(const Categorical& p, const Categorical& q) { return of_classes(p, q); }
Tensor of_one_hots(const OneHotCategorical& p, const OneHotCategorical& q) { return of_classes(p, q); }

Tensor of_geometrics(const Geometric& p, const Geometric& q) { return -p.entropy() - (-q.probs()).log1p() / p.probs() - q.logits(); }

Tensor of_poissons(const Poisson& p, const Poisson& q) { return p.rate() * (p.rate().log() - q.rate().log()) - (p.rate() - q.rate()); }

Tensor of_uniforms(const Uniform& p, const Uniform& q) {
  const Tensor wider = ((q.high() - q.low()) / (p.high() - p.low())).log();
  return infinite_where((q.low() > p.low()) | (q.high() < p.high()), wider);
}

Tensor of_exponentials(const Exponential& p, const Exponential& q) {
  const Tensor ratio = q.rate() / p.rate();
  return ratio - 1 - ratio.log();
}

Tensor of_laplaces(const Laplace& p, const Laplace& q) {
  const Tensor ratio = p.scale() / q.scale(), apart = (p.loc() - q.loc()).abs();
  return -ratio.log() + apart / q.scale() + ratio * (-apart / p.scale()).exp() - 1;
}

Tensor of_cauchys(const Cauchy& p, const Cauchy& q) {
  const Tensor wide = (p.scale() + q.scale()).square() + (p.loc() - q.loc()).square();
  return wide.log() - (4 * p.scale() * q.scale()).log();
}

Tensor of_gammas(const Gamma& p, const Gamma& q) {
  const Tensor a = p.concentration(), b = q.concentration(), rate = p.rate();
  return b * (rate / q.rate()).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma() + (q.rate() - rate) * (a / rate);
}

Tensor of_dirichlets(const Dirichlet& p, const Dirichlet& q) {
  const Tensor a = p.concentration(), b = q.concentration(), total = a.sum(-1, true);
  const Tensor norms = a.sum(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1);
  return norms + ((a - b) * (a.digamma() - total.digamma())).sum(-1);
}

Tensor of_multivariate_normals(const MultivariateNormal& p, const MultivariateNormal& q) {
  if (p.event_shape() != q.event_shape())
    fail<ValueError>("[kl_divergence] KL-divergence between two Multivariate Normals with different event shapes cannot be computed: ",
                     p.event_shape(), " and ", q.event_shape());
  const Tensor quadratic = detail::spread(q.factor(), p.factor()) + detail::spread(q.factor(), (q.loc() - p.loc()).unsqueeze(-1));
  return detail::log_determinant(q.factor()) - detail::log_determinant(p.factor()) + 0.5 * (quadratic - p.event_shape()[0]);
}

Tensor of_independents(const Independent& p, const Independent& q) {
  if (p.reinterpreted_batch_ndims() != q.reinterpreted_batch_ndims())
    fail<NotImplementedError>("[kl_divergence] two Independent distributions need the same reinterpreted_batch_ndims, but have ",
                              p.reinterpreted_batch_ndims(), " and ", q.reinterpreted_batch_ndims());
  return detail::sum_rightmost(kl_divergence(p.base_dist(), q.base_dist()), p.reinterpreted_batch_ndims());
}

}  // namespace

std::span<const detail::KlRule> detail::kl_of_one_class() {
  static constexpr KlRule kRules[] = {KlOf<&of_normals>::rule,    KlOf<&of_log_normals>::rule,  KlOf<&of_half_normals>::rule,
                                      KlOf<&of_bernoullis>::rule, KlOf<&of_binomials>::rule,    KlOf<&of_categoricals>::rule,
                                      KlOf<&of_one_hots>::rule,   KlOf<&of_geometrics>::rule,   KlOf<&of_poissons>::rule,
                                      KlOf<&of_uniforms>::rule,   KlOf<&of_exponentials>::rule, KlOf<&of_laplaces>::rule,
                                      KlOf<&of_cauchys>::rule,    KlOf<&of_gammas>::rule,       KlOf<&of_multivariate_normals>::rule,
                                      KlOf<&of_dirichlets>::rule, KlOf<&of_independents>::rule};
  return kRules;
}

Tensor kl_divergence(const Distribution& p, const Distribution& q, Site site) {
  const tandem::detail::ComposedAt line(site);
  for (const auto rules : {detail::kl_of_one_class(), detail::kl_of_pairs()})
    for (const detail::KlRule rule : rules)
      if (Tensor divergence = rule(p, q); divergence.defined()) return divergence;
  fail<NotImplementedError>("[kl_divergence] No KL(p || q) is implemented for p type ", p.name(), " and q type ", q.name());
}

}  // namespace tandem::distributions
