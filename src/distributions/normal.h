// The normal distribution, and those of numbers made from normal ones.
#pragma once

#include "distributions/distribution.h"

namespace tandem::distributions {

/// The normal distribution of mean loc and standard deviation scale. Errors: scale must be positive. As torch.distributions.Normal.
class Normal : public DistributionOf<Normal> {
 public:
  Normal(const Operand& loc, const Operand& scale, const DistributionOptions& options = {}, Site site = Site::here());

  /// The mean.
  [[nodiscard]] Tensor loc() const { return parameter(0); }
  /// The standard deviation.
  [[nodiscard]] Tensor scale() const { return parameter(1); }
  [[nodiscard]] Constraint support() const override { return constraints::real(); }

 protected:
  Tensor do_mean() const override { return loc(); }
  Tensor do_mode() const override { return loc(); }
  Tensor do_variance() const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_cdf(const Tensor& value) const override;
  Tensor do_icdf(const Tensor& value) const override;
  Tensor do_entropy() const override;
};

/// exp of a normal number, of mean loc and deviation scale. Errors: scale must be positive. As torch.distributions.LogNormal.
class LogNormal : public DistributionOf<LogNormal> {
 public:
  LogNormal(const Operand& loc, const Operand& scale, const DistributionOptions& options = {}, Site site = Site::here());

  /// The mean of the logarithm.
  [[nodiscard]] Tensor loc() const { return parameter(0); }
  /// The standard deviation of the logarithm.
  [[nodiscard]] Tensor scale() const { return parameter(1); }
  [[nodiscard]] Constraint support() const override { return constraints::positive(); }

 protected:
  Tensor do_mean() const override;
  Tensor do_mode() const override;
  Tensor do_variance() const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_cdf(const Tensor& value) const override;
  Tensor do_icdf(const Tensor& value) const override;
  Tensor do_entropy() const override;
  Constraint cdf_support() const override { return constraints::nonnegative(); }
};

/// The magnitude of a normal number of mean 0 and deviation scale. Errors: scale must be positive. As torch.distributions.HalfNormal.
class HalfNormal : public DistributionOf<HalfNormal> {
 public:
  explicit HalfNormal(const Operand& scale, const DistributionOptions& options = {}, Site site = Site::here());

  /// The standard deviation of the normal number.
  [[nodiscard]] Tensor scale() const { return parameter(0); }
  [[nodiscard]] Constraint support() const override { return constraints::nonnegative(); }

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
