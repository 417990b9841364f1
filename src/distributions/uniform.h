// The uniform distribution.
#pragma once

#include "distributions/distribution.h"

namespace tandem::distributions {

/// Numbers from low to below high, all alike. Errors: low must be below high. As torch.distributions.Uniform.
class Uniform : public DistributionOf<Uniform> {
 public:
  Uniform(const Operand& low, const Operand& high, const DistributionOptions& options = {}, Site site = Site::here());

  /// Where values begin.
  [[nodiscard]] Tensor low() const { return parameter(0); }
  /// Where they end.
  [[nodiscard]] Tensor high() const { return parameter(1); }
  [[nodiscard]] Constraint support() const override { return constraints::interval(low(), high()); }

 protected:
  Tensor do_mean() const override;
  Tensor do_mode() const override;
  Tensor do_variance() const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_cdf(const Tensor& value) const override;
  Tensor do_icdf(const Tensor& value) const override;
  Tensor do_entropy() const override;
};

}  // namespace tandem::distributions
