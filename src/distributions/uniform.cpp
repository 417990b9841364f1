#include "distributions/uniform.h"

#include <limits>

#include "distributions/numeric.h"
#include "distributions/sampling.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"

namespace tandem::distributions {
namespace {

std::vector<Parameter> bounds(const Operand& low, const Operand& high, Site site) {
  std::vector<Parameter> both =
      detail::broadcast_all("Uniform", {{"low", low, constraints::real()}, {"high", high, constraints::real()}}, site);
  both[0].constraint = constraints::less_than(both[1].value);
  both[1].constraint = constraints::greater_than(both[0].value);
  return both;
}

}  // namespace

Uniform::Uniform(const Operand& low, const Operand& high, const DistributionOptions& options, Site site)
    : DistributionOf("Uniform", bounds(low, high, site), {}, options.validate_args, site) {}

Tensor Uniform::do_mean() const { return (high() + low()) / 2; }
Tensor Uniform::do_mode() const { return full_like(high(), std::numeric_limits<double>::quiet_NaN()); }
Tensor Uniform::do_variance() const { return (high() - low()).square() / 12; }
Tensor Uniform::do_rsample(const Shape& shape) const { return low() + detail::standard_uniform(shape, low()) * (high() - low()); }
Tensor Uniform::do_log_prob(const Tensor& value) const {
  const Tensor inside = (low() <= value) & (high() > value);
  return inside.to(low().dtype()).log() - (high() - low()).log();
}
Tensor Uniform::do_cdf(const Tensor& value) const { return ((value - low()) / (high() - low())).clamp(0, 1); }
Tensor Uniform::do_icdf(const Tensor& value) const { return value * (high() - low()) + low(); }
Tensor Uniform::do_entropy() const { return (high() - low()).log(); }

}  // namespace tandem::distributions
