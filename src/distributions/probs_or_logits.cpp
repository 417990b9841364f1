#include "distributions/probs_or_logits.h"

#include <limits>

#include "base/error.h"
#include "base/work_site.h"
#include "distributions/numeric.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/softmax.h"
#include "ops/view.h"

namespace tandem::distributions {
namespace {

/// The one that is given.
Operand given_one(const char* name, const ProbsOrLogits& given) {
  if (given.probs.has_value() == given.logits.has_value())
    fail<ValueError>("[", name, "] Either `probs` or `logits` must be specified, but not both.");
  return (given.probs ? given.probs : given.logits)->operand();
}

const char* name_of(const ProbsOrLogits& given) { return given.logits ? "logits" : "probs"; }

/// Probabilities that are neither 0 nor 1, so that their logarithms are finite.
Tensor clamp_probs(const Tensor& probs) {
  const double eps = detail::epsilon(probs.dtype());
  return probs.clamp(eps, 1 - eps);
}

std::vector<Parameter> probability(const char* name, const ProbsOrLogits& given, const Operand* total_count, Site site) {
  const Operand value = given_one(name, given);
  const detail::Given one{name_of(given), value, given.probs ? constraints::unit_interval() : constraints::real()};
  if (!total_count) return detail::broadcast_all(name, {one}, site);
  std::vector<Parameter> both = detail::broadcast_all(name, {one, {"total_count", *total_count, constraints::nonnegative_integer()}}, site);
  both[1].value = both[1].value.to(both[0].value.dtype());
  return both;
}

std::vector<Parameter> classes(const char* name, const ProbsOrLogits& given, Site site) {
  const tandem::detail::ComposedAt line(site);
  const Tensor one = detail::as_tensor(given_one(name, given));
  if (one.dim() < 1) fail<ValueError>("[", name, "] `", name_of(given), "` parameter must be at least one-dimensional.");
  if (given.probs) return {{"probs", one / one.sum(-1, true), constraints::simplex()}};
  return {{"logits", one - one.logsumexp({-1}, true), constraints::real_vector()}};
}

}  // namespace

ByProbability::ByProbability(const char* name, const ProbsOrLogits& given, Site site, const Operand* total_count)
    : Distribution(name, probability(name, given, total_count, site), {}, given.validate_args, site),
      has_logits_(given.logits.has_value()) {}

Tensor ByProbability::probs(Site site) const { return has_logits_ ? parameter(0).sigmoid(site) : parameter(0); }

Tensor ByProbability::logits(Site site) const {
  if (has_logits_) return parameter(0);
  const tandem::detail::ComposedAt line(site);
  const Tensor p = clamp_probs(parameter(0));
  return p.log() - (-p).log1p();
}

ByClasses::ByClasses(const char* name, const ProbsOrLogits& given, bool event_is_vector, Site site)
    : Distribution(name, classes(name, given, site),
                   event_is_vector ? detail::last_size(detail::as_tensor(given_one(name, given))) : Shape{}, given.validate_args, site),
      has_logits_(given.logits.has_value()) {}

Tensor ByClasses::probs(Site site) const { return has_logits_ ? softmax(parameter(0), -1, site) : parameter(0); }

Tensor ByClasses::logits(Site site) const {
  if (has_logits_) return parameter(0);
  const tandem::detail::ComposedAt line(site);
  return clamp_probs(parameter(0)).log();
}

Tensor ByClasses::draw_classes(const Shape& shape) const {
  const int64_t batch = batch_shape().numel(), draws = shape.numel();
  if (draws == 0) return zeros(shape, {.dtype = kInt64, .device = parameter(0).device()});
  return multinomial(probs().reshape({batch, num_events()}), draws / batch, true).t().reshape(shape);
}

Tensor ByClasses::log_prob_of(const Tensor& classes) const {
  const std::vector<Tensor> both = broadcast_tensors({classes.to(kInt64).unsqueeze(-1), logits()});
  return gather(both[1], -1, both[0].narrow(-1, 0, 1)).squeeze(-1);
}

Tensor ByClasses::class_entropy() const {
  const DType dtype = parameter(0).dtype();
  const double lowest = visit(dtype, [](auto zero) { return Scalar(std::numeric_limits<decltype(zero)>::lowest()).template to<double>(); });
  return -(logits().clamp(lowest) * probs()).sum(-1);
}

}  // namespace tandem::distributions
