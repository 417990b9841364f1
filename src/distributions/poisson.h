// The Poisson distribution.
#pragma once

#include "distributions/distribution.h"

namespace tandem::distributions {

/// How many events come, of which there are `rate` in the mean. Errors: rate must not be negative. As torch.distributions.Poisson.
class Poisson : public DistributionOf<Poisson> {
 public:
  explicit Poisson(const Operand& rate, const DistributionOptions& options = {}, Site site = Site::here());

  /// The mean.
  [[nodiscard]] Tensor rate() const { return parameter(0); }
  [[nodiscard]] bool has_rsample() const override { return false; }
  [[nodiscard]] Constraint support() const override { return constraints::nonnegative_integer(); }

 protected:
  Tensor do_mean() const override { return rate(); }
  Tensor do_mode() const override;
  Tensor do_variance() const override { return rate(); }
  Tensor do_sample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
};

}  // namespace tandem::distributions
