#include "distributions/categorical.h"

#include <limits>

#include "base/error.h"
#include "distributions/bernoulli.h"
#include "distributions/numeric.h"
#include "ops/arithmetic.h"
#include "ops/counting.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/view.h"

namespace tandem::distributions {

Categorical::Categorical(const Operand& probs, const DistributionOptions& options, Site site)
    : Categorical(ProbsOrLogits{.probs = probs, .validate_args = options.validate_args}, site) {}
Categorical::Categorical(const ProbsOrLogits& given, Site site) : DistributionOf("Categorical", given, false, site) {}

Tensor Categorical::do_mean() const { return parameter(0).new_full(batch_shape(), std::numeric_limits<double>::quiet_NaN()); }
Tensor Categorical::do_mode() const { return parameter(0).argmax(-1); }
Tensor Categorical::do_enumerate_support() const {
  return detail::along_first(arange(num_events(), {.device = parameter(0).device()}), batch_shape());
}

OneHotCategorical::OneHotCategorical(const Operand& probs, const DistributionOptions& options, Site site)
    : OneHotCategorical(ProbsOrLogits{.probs = probs, .validate_args = options.validate_args}, site) {}
OneHotCategorical::OneHotCategorical(const ProbsOrLogits& given, Site site) : DistributionOf("OneHotCategorical", given, true, site) {}

Tensor OneHotCategorical::do_mode() const { return one_hot(parameter(0).argmax(-1), num_events()).to(parameter(0).dtype()); }
Tensor OneHotCategorical::do_variance() const { return probs() * (1 - probs()); }
Tensor OneHotCategorical::do_sample(const Shape& shape) const {
  return one_hot(draw_classes(shape.slice(0, shape.size() - 1)), num_events()).to(parameter(0).dtype());
}
Tensor OneHotCategorical::do_log_prob(const Tensor& value) const { return log_prob_of(value.argmax(-1)); }
Tensor OneHotCategorical::do_enumerate_support() const {
  return detail::along_first(eye(num_events(), {}, {.dtype = parameter(0).dtype(), .device = parameter(0).device()}), batch_shape());
}

Multinomial::Multinomial(int64_t total_count, const Operand& probs, const DistributionOptions& options, Site site)
    : Multinomial(total_count, ProbsOrLogits{.probs = probs, .validate_args = options.validate_args}, site) {}
Multinomial::Multinomial(int64_t total_count, const ProbsOrLogits& given, Site site)
    : DistributionOf("Multinomial", given, true, site), total_count_(total_count) {
  if (total_count < 0) fail<ValueError>("[Multinomial] total_count must not be negative, got ", total_count);
}

Tensor Multinomial::do_mean() const { return probs() * total_count_; }
Tensor Multinomial::do_variance() const { return total_count_ * probs() * (1 - probs()); }
Tensor Multinomial::do_sample(const Shape& shape) const {
  const Shape outer = shape.slice(0, shape.size() - 1);
  const Tensor drawn = draw_classes(detail::joined({total_count_}, outer)).movedim(0, -1);
  return parameter(0).new_zeros(shape).scatter_add(-1, drawn, parameter(0).new_ones({}).expand(drawn.sizes()));
}
Tensor Multinomial::do_log_prob(const Tensor& value) const {
  const std::vector<Tensor> both = broadcast_tensors({logits(), value});
  // A class that never comes, and did not come: 0 times an infinite logarithm is 0.
  const Tensor never = (both[1] == 0) & (both[0] == -std::numeric_limits<double>::infinity());
  const Tensor powers = (where(never, 0.0, both[0]) * both[1]).sum(-1);
  return (both[1].sum(-1) + 1).lgamma() - (both[1] + 1).lgamma().sum(-1) + powers;
}
Tensor Multinomial::do_entropy() const {
  const Tensor n = parameter(0).new_full({}, total_count_);
  const Binomial each(n, ProbsOrLogits{.probs = probs(), .validate_args = false});
  const Tensor counts = each.enumerate_support(false).slice(0, 1);
  const Tensor weights = each.log_prob(counts).exp();
  return n * class_entropy() - (n + 1).lgamma() + (weights * (counts + 1).lgamma()).sum({0, -1});
}

}  // namespace tandem::distributions
