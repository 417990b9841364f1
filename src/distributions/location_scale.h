// Distributions with a location and a scale, other than the normal one.
#pragma once

#include "distributions/distribution.h"

namespace tandem::distributions {

/// Two exponential distributions back to back about loc. Errors: scale must be positive. As torch.distributions.Laplace.
class Laplace : public DistributionOf<Laplace> {
 public:
  Laplace(const Operand& loc, const Operand& scale, const DistributionOptions& options = {}, Site site = Site::here());

  /// The middle.
  [[nodiscard]] Tensor loc() const { return parameter(0); }
  /// The mean distance from the middle.
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

/// The ratio of two normal numbers, times scale, about loc; its mean is nan and its variance infinite. Errors: scale must be positive. As
/// torch.distributions.Cauchy.
class Cauchy : public DistributionOf<Cauchy> {
 public:
  Cauchy(const Operand& loc, const Operand& scale, const DistributionOptions& options = {}, Site site = Site::here());

  /// The middle.
  [[nodiscard]] Tensor loc() const { return parameter(0); }
  /// Half the values are nearer to the middle than this.
  [[nodiscard]] Tensor scale() const { return parameter(1); }
  [[nodiscard]] Constraint support() const override { return constraints::real(); }

 protected:
  Tensor do_mean() const override;
  Tensor do_mode() const override { return loc(); }
  Tensor do_variance() const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_cdf(const Tensor& value) const override;
  Tensor do_icdf(const Tensor& value) const override;
  Tensor do_entropy() const override;
};

/// The largest of many: loc - scale * log(-log(u)) of uniform numbers u. Errors: scale must be positive. As torch.distributions.Gumbel.
class Gumbel : public DistributionOf<Gumbel> {
 public:
  Gumbel(const Operand& loc, const Operand& scale, const DistributionOptions& options = {}, Site site = Site::here());

  /// The likeliest value.
  [[nodiscard]] Tensor loc() const { return parameter(0); }
  /// How wide it is: the deviation times sqrt(6) / pi.
  [[nodiscard]] Tensor scale() const { return parameter(1); }
  [[nodiscard]] Constraint support() const override { return constraints::real(); }

 protected:
  Tensor do_mean() const override;
  Tensor do_mode() const override { return loc(); }
  Tensor do_variance() const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_cdf(const Tensor& value) const override;
  Tensor do_icdf(const Tensor& value) const override;
  Tensor do_entropy() const override;
};

/// Student's t with df degrees of freedom, times scale, about loc. The mean is nan up to one degree; the variance is infinite up to two,
/// and nan up to one. Errors: df and scale must be positive. As torch.distributions.StudentT.
class StudentT : public DistributionOf<StudentT> {
 public:
  explicit StudentT(const Operand& df, const Operand& loc = 0.0, const Operand& scale = 1.0, const DistributionOptions& options = {},
                    Site site = Site::here());

  /// The degrees of freedom.
  [[nodiscard]] Tensor df() const { return parameter(0); }
  /// The middle.
  [[nodiscard]] Tensor loc() const { return parameter(1); }
  /// How wide it is.
  [[nodiscard]] Tensor scale() const { return parameter(2); }
  [[nodiscard]] Constraint support() const override { return constraints::real(); }

 protected:
  Tensor do_mean() const override;
  Tensor do_mode() const override { return loc(); }
  Tensor do_variance() const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_entropy() const override;
};

}  // namespace tandem::distributions
