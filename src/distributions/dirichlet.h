// Shares of a whole.
#pragma once

#include "distributions/distribution.h"

namespace tandem::distributions {

/// Vectors of shares that add up to 1, whose means are in proportion to `concentration` (…, n): event_shape is [n]. Errors: concentration
/// must have a dimension, and be positive. As torch.distributions.Dirichlet.
class Dirichlet : public DistributionOf<Dirichlet> {
 public:
  explicit Dirichlet(const Tensor& concentration, const DistributionOptions& options = {}, Site site = Site::here());

  /// How much weight each share has.
  [[nodiscard]] Tensor concentration() const { return parameter(0); }
  [[nodiscard]] Constraint support() const override { return constraints::simplex(); }

 protected:
  Tensor do_mean() const override;
  /// A corner where all concentrations are below 1.
  Tensor do_mode() const override;
  Tensor do_variance() const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_entropy() const override;
};

/// Numbers from 0 to 1 with the mean concentration1 / (concentration1 + concentration0). Errors: both must be positive. As
/// torch.distributions.Beta.
class Beta : public DistributionOf<Beta> {
 public:
  Beta(const Operand& concentration1, const Operand& concentration0, const DistributionOptions& options = {}, Site site = Site::here());

  /// The weight of 1, often called alpha.
  [[nodiscard]] Tensor concentration1() const { return parameter(0); }
  /// The weight of 0, often called beta.
  [[nodiscard]] Tensor concentration0() const { return parameter(1); }
  [[nodiscard]] Constraint support() const override { return constraints::unit_interval(); }

 protected:
  Tensor do_mean() const override;
  Tensor do_mode() const override;
  Tensor do_variance() const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_entropy() const override;

 private:
  /// The two as the shares of a Dirichlet distribution.
  [[nodiscard]] Dirichlet shares() const;
};

}  // namespace tandem::distributions
