// Trials that succeed or not.
#pragma once

#include "distributions/probs_or_logits.h"

namespace tandem::distributions {

/// 1 with the probability probs, else 0: Bernoulli(0.3), Bernoulli({.logits = x}). Errors: probs must lie in [0, 1], logits must not be
/// nan. As torch.distributions.Bernoulli.
class Bernoulli : public DistributionOf<Bernoulli, ByProbability> {
 public:
  explicit Bernoulli(const Operand& probs, const DistributionOptions& options = {}, Site site = Site::here());
  explicit Bernoulli(const ProbsOrLogits& given, Site site = Site::here());

  [[nodiscard]] bool has_rsample() const override { return false; }
  [[nodiscard]] bool has_enumerate_support() const override { return true; }
  [[nodiscard]] Constraint support() const override { return constraints::boolean(); }

 protected:
  Tensor do_mean() const override { return probs(); }
  /// nan where both are as likely.
  Tensor do_mode() const override;
  Tensor do_variance() const override;
  Tensor do_sample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_entropy() const override;
  Tensor do_enumerate_support() const override;
};

/// How many failures come before the first success, whose probability is probs. Errors: probs must lie in (0, 1], logits must not be nan.
/// As torch.distributions.Geometric.
class Geometric : public DistributionOf<Geometric, ByProbability> {
 public:
  explicit Geometric(const Operand& probs, const DistributionOptions& options = {}, Site site = Site::here());
  explicit Geometric(const ProbsOrLogits& given, Site site = Site::here());

  [[nodiscard]] bool has_rsample() const override { return false; }
  [[nodiscard]] Constraint support() const override { return constraints::nonnegative_integer(); }

 protected:
  Tensor do_mean() const override;
  Tensor do_mode() const override;
  Tensor do_variance() const override;
  Tensor do_sample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_entropy() const override;
};

/// How many of total_count trials succeed, each with the probability probs. Errors: total_count must be whole and not negative, probs lie
/// in [0, 1], logits not be nan. Where total_count differs within the batch, there is neither entropy nor enumerate_support. As
/// torch.distributions.Binomial.
class Binomial : public DistributionOf<Binomial, ByProbability> {
 public:
  Binomial(const Operand& total_count, const Operand& probs, const DistributionOptions& options = {}, Site site = Site::here());
  Binomial(const Operand& total_count, const ProbsOrLogits& given, Site site = Site::here());

  /// How many trials there are, in the dtype of the probability.
  [[nodiscard]] Tensor total_count() const { return parameter(1); }
  [[nodiscard]] bool has_rsample() const override { return false; }
  [[nodiscard]] bool has_enumerate_support() const override { return true; }
  [[nodiscard]] Constraint support() const override { return constraints::integer_interval(0, total_count()); }

 protected:
  Tensor do_mean() const override;
  Tensor do_mode() const override;
  Tensor do_variance() const override;
  Tensor do_sample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_entropy() const override;
  Tensor do_enumerate_support() const override;

 private:
  /// Values from 0 to the total count of all, followed by sizes 1 for the batch. Waits for the device.
  [[nodiscard]] Tensor all_counts(const char* what) const;
};

}  // namespace tandem::distributions
