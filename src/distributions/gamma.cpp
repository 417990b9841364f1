#include "distributions/gamma.h"

#include "distributions/incomplete_gamma.h"
#include "distributions/numeric.h"
#include "distributions/sampling.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"

namespace tandem::distributions {

Gamma::Gamma(const Operand& concentration, const Operand& rate, const DistributionOptions& options, Site site)
    : DistributionOf(
          "Gamma",
          detail::broadcast_all("Gamma",
                                {{"concentration", concentration, constraints::positive()}, {"rate", rate, constraints::positive()}}, site),
          {}, options.validate_args, site) {}

Tensor Gamma::do_mean() const { return concentration() / rate(); }
Tensor Gamma::do_mode() const { return ((concentration() - 1) / rate()).clamp(0); }
Tensor Gamma::do_variance() const { return concentration() / rate().square(); }
Tensor Gamma::do_rsample(const Shape& shape) const {
  const Tensor sample = detail::standard_gamma(concentration().expand(shape)) / rate();
  // A sample of 0 has no logarithm; the gradient goes past the bound.
  const Tensor value = sample.detach();
  return sample + (value.clamp(detail::tiny(sample.dtype())) - value);
}
Tensor Gamma::do_log_prob(const Tensor& value) const {
  const Tensor a = concentration(), b = rate();
  return a.xlogy(b) + (a - 1).xlogy(value) - b * value - a.lgamma();
}
Tensor Gamma::do_cdf(const Tensor& value) const { return detail::gammainc(concentration(), rate() * value); }
Tensor Gamma::do_entropy() const {
  const Tensor a = concentration();
  return a - rate().log() + a.lgamma() + (1 - a) * a.digamma();
}

Chi2::Chi2(const Operand& df, const DistributionOptions& options, Site site)
    : DistributionOf("Chi2", detail::broadcast_all("Chi2", {{"df", df, constraints::positive()}}, site), Shape(), options.validate_args,
                     site) {}

Tensor Chi2::concentration() const { return parameter(0) * 0.5; }
Tensor Chi2::rate() const { return full_like(concentration(), 0.5); }

Exponential::Exponential(const Operand& rate, const DistributionOptions& options, Site site)
    : DistributionOf("Exponential", detail::broadcast_all("Exponential", {{"rate", rate, constraints::positive()}}, site), {},
                     options.validate_args, site) {}

Tensor Exponential::do_mean() const { return rate().reciprocal(); }
Tensor Exponential::do_mode() const { return zeros_like(rate()); }
Tensor Exponential::do_variance() const { return rate().square().reciprocal(); }
Tensor Exponential::do_rsample(const Shape& shape) const { return rate().new_empty(shape).exponential_() / rate(); }
Tensor Exponential::do_log_prob(const Tensor& value) const { return rate().log() - rate() * value; }
Tensor Exponential::do_cdf(const Tensor& value) const { return -(-rate() * value).expm1(); }
Tensor Exponential::do_icdf(const Tensor& value) const { return -(-value).log1p() / rate(); }
Tensor Exponential::do_entropy() const { return 1 - rate().log(); }

}  // namespace tandem::distributions
