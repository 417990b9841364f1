#include "distributions/bernoulli.h"

#include <limits>

#include "base/error.h"
#include "base/work_site.h"
#include "distributions/numeric.h"
#include "distributions/sampling.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/loss/loss.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/view.h"

namespace tandem::distributions {
namespace {

Tensor cross_entropy_of(const Tensor& logits, const Tensor& target) {
  return binary_cross_entropy_with_logits(logits, target.to(logits.dtype()), {.reduction = Reduction::None});
}

}  // namespace

Bernoulli::Bernoulli(const Operand& probs, const DistributionOptions& options, Site site)
    : Bernoulli(ProbsOrLogits{.probs = probs, .validate_args = options.validate_args}, site) {}
Bernoulli::Bernoulli(const ProbsOrLogits& given, Site site) : DistributionOf("Bernoulli", given, site) {}

Tensor Bernoulli::do_mode() const {
  const Tensor p = probs();
  return where(p == 0.5, std::numeric_limits<double>::quiet_NaN(), (p >= 0.5).to(p.dtype()));
}
Tensor Bernoulli::do_variance() const { return probs() * (1 - probs()); }
Tensor Bernoulli::do_sample(const Shape& shape) const { return bernoulli(probs().expand(shape)); }
Tensor Bernoulli::do_log_prob(const Tensor& value) const {
  const std::vector<Tensor> both = broadcast_tensors({logits(), value});
  return -cross_entropy_of(both[0], both[1]);
}
Tensor Bernoulli::do_entropy() const { return cross_entropy_of(logits(), probs()); }
Tensor Bernoulli::do_enumerate_support() const {
  return detail::along_first(arange(2, {.dtype = parameter(0).dtype(), .device = parameter(0).device()}), batch_shape());
}

Geometric::Geometric(const Operand& probs, const DistributionOptions& options, Site site)
    : Geometric(ProbsOrLogits{.probs = probs, .validate_args = options.validate_args}, site) {}
Geometric::Geometric(const ProbsOrLogits& given, Site site) : DistributionOf("Geometric", given, site) {
  if (given.probs && validates()) require(0, constraints::positive(), site);
}

Tensor Geometric::do_mean() const { return 1 / probs() - 1; }
Tensor Geometric::do_mode() const { return zeros_like(parameter(0)); }
Tensor Geometric::do_variance() const { return (1 / probs() - 1) / probs(); }
Tensor Geometric::do_sample(const Shape& shape) const {
  const Tensor noise = detail::wide_uniform(shape, parameter(0)).log().to(parameter(0).dtype());
  return (noise / (-probs()).log1p()).floor();
}
Tensor Geometric::do_log_prob(const Tensor& value) const {
  const Tensor p = probs();
  // With the probability 1 there are no failures: 0 times an infinite logarithm is 0.
  const Tensor none = (p == 1) & (value == 0);
  return value * (-where(none, 0.0, p)).log1p() + p.log();
}
Tensor Geometric::do_entropy() const { return cross_entropy_of(logits(), probs()) / probs(); }

Binomial::Binomial(const Operand& total_count, const Operand& probs, const DistributionOptions& options, Site site)
    : Binomial(total_count, ProbsOrLogits{.probs = probs, .validate_args = options.validate_args}, site) {}
Binomial::Binomial(const Operand& total_count, const ProbsOrLogits& given, Site site)
    : DistributionOf("Binomial", given, site, &total_count) {}

Tensor Binomial::do_mean() const { return total_count() * probs(); }
Tensor Binomial::do_mode() const { return minimum(((total_count() + 1) * probs()).floor(), total_count()); }
Tensor Binomial::do_variance() const {
  const Tensor p = probs();
  return total_count() * p * (1 - p);
}
Tensor Binomial::do_sample(const Shape& shape) const { return detail::binomial(total_count().expand(shape), probs().expand(shape)); }
Tensor Binomial::do_log_prob(const Tensor& value) const {
  const Tensor n = total_count(), x = logits();
  const Tensor choices = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma();
  return choices + value * x - n * softplus(x);
}
Tensor Binomial::all_counts(const char* what) const {
  const Tensor n = total_count();
  const auto count = n.numel() > 0 ? n.max().item<int64_t>() : 0;
  if (!(n == count).all()) fail<NotImplementedError>("[Binomial] Inhomogeneous total count not supported by `", what, "`.");
  return detail::along_first(arange(count + 1, {.dtype = n.dtype(), .device = n.device()}), batch_shape());
}
Tensor Binomial::do_entropy() const {
  const Tensor log_prob = do_log_prob(all_counts("entropy"));
  return -(log_prob.exp() * log_prob).sum(0);
}
Tensor Binomial::do_enumerate_support() const { return all_counts("enumerate_support"); }

}  // namespace tandem::distributions
