// Classes by their probabilities.
#pragma once

#include "distributions/probs_or_logits.h"

namespace tandem::distributions {

/// The number of a class, int64; probs or logits (…, n) of n classes, which need not be normalized. Errors: probs must not be negative or
/// all 0. Its mean and variance are nan. As torch.distributions.Categorical.
class Categorical : public DistributionOf<Categorical, ByClasses> {
 public:
  explicit Categorical(const Operand& probs, const DistributionOptions& options = {}, Site site = Site::here());
  explicit Categorical(const ProbsOrLogits& given, Site site = Site::here());

  [[nodiscard]] bool has_rsample() const override { return false; }
  [[nodiscard]] bool has_enumerate_support() const override { return true; }
  [[nodiscard]] Constraint support() const override { return constraints::integer_interval(0, num_events() - 1); }

 protected:
  Tensor do_mean() const override;
  Tensor do_mode() const override;
  Tensor do_variance() const override { return do_mean(); }
  Tensor do_sample(const Shape& shape) const override { return draw_classes(shape); }
  Tensor do_log_prob(const Tensor& value) const override { return log_prob_of(value); }
  Tensor do_entropy() const override { return class_entropy(); }
  Tensor do_enumerate_support() const override;
};

/// A class as a vector with a 1 at its place: event_shape is [n]. As torch.distributions.OneHotCategorical.
class OneHotCategorical : public DistributionOf<OneHotCategorical, ByClasses> {
 public:
  explicit OneHotCategorical(const Operand& probs, const DistributionOptions& options = {}, Site site = Site::here());
  explicit OneHotCategorical(const ProbsOrLogits& given, Site site = Site::here());

  [[nodiscard]] bool has_rsample() const override { return false; }
  [[nodiscard]] bool has_enumerate_support() const override { return true; }
  [[nodiscard]] Constraint support() const override { return constraints::one_hot(); }

 protected:
  Tensor do_mean() const override { return probs(); }
  Tensor do_mode() const override;
  Tensor do_variance() const override;
  Tensor do_sample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_entropy() const override { return class_entropy(); }
  Tensor do_enumerate_support() const override;
};

/// How often each of n classes comes in total_count draws: event_shape is [n]. Errors: as those of Categorical; total_count must not be
/// negative. As torch.distributions.Multinomial.
class Multinomial : public DistributionOf<Multinomial, ByClasses> {
 public:
  Multinomial(int64_t total_count, const Operand& probs, const DistributionOptions& options = {}, Site site = Site::here());
  Multinomial(int64_t total_count, const ProbsOrLogits& given, Site site = Site::here());

  /// How many draws there are.
  [[nodiscard]] int64_t total_count() const { return total_count_; }
  [[nodiscard]] bool has_rsample() const override { return false; }
  [[nodiscard]] Constraint support() const override { return constraints::multinomial(total_count_); }

 protected:
  Tensor do_mean() const override;
  Tensor do_variance() const override;
  Tensor do_sample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_entropy() const override;

 private:
  int64_t total_count_;
};

}  // namespace tandem::distributions
