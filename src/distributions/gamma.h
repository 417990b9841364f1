// The gamma distribution and its kin.
#pragma once

#include "distributions/distribution.h"

namespace tandem::distributions {

/// The gamma distribution of shape `concentration`, with the mean concentration / rate. Errors: both must be positive. As
/// torch.distributions.Gamma.
class Gamma : public DistributionOf<Gamma> {
 public:
  Gamma(const Operand& concentration, const Operand& rate, const DistributionOptions& options = {}, Site site = Site::here());

  /// The shape.
  [[nodiscard]] virtual Tensor concentration() const { return parameter(0); }
  /// The rate, 1 over the scale.
  [[nodiscard]] virtual Tensor rate() const { return parameter(1); }
  [[nodiscard]] Constraint support() const override { return constraints::nonnegative(); }

 protected:
  using DistributionOf::DistributionOf;
  Tensor do_mean() const override;
  Tensor do_mode() const override;
  Tensor do_variance() const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_cdf(const Tensor& value) const override;
  Tensor do_entropy() const override;
};

/// The sum of the squares of df standard normal numbers: Gamma(df / 2, 0.5). Errors: df must be positive. As torch.distributions.Chi2.
class Chi2 : public DistributionOf<Chi2, Gamma> {
 public:
  explicit Chi2(const Operand& df, const DistributionOptions& options = {}, Site site = Site::here());

  /// The degrees of freedom.
  [[nodiscard]] Tensor df() const { return parameter(0); }
  [[nodiscard]] Tensor concentration() const override;
  [[nodiscard]] Tensor rate() const override;
};

/// Waiting times, of mean 1 / rate. Errors: rate must be positive. As torch.distributions.Exponential.
class Exponential : public DistributionOf<Exponential> {
 public:
  explicit Exponential(const Operand& rate, const DistributionOptions& options = {}, Site site = Site::here());

  /// How many come in a unit of time.
  [[nodiscard]] Tensor rate() const { return parameter(0); }
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
