// Several distributions as one of larger samples.
#pragma once

#include "distributions/distribution.h"

namespace tandem::distributions {

/// A distribution whose last `reinterpreted_batch_ndims` dimensions of the batch belong to one sample: log_prob and entropy are summed over
/// them. Independent(Normal(loc, scale), 1) is a normal distribution of vectors with a diagonal covariance. ValueError for more dimensions
/// than the batch has, and for a negative number. As torch.distributions.Independent.
class Independent : public DistributionOf<Independent> {
 public:
  Independent(const Distribution& base_distribution, int64_t reinterpreted_batch_ndims, Site site = Site::here());

  /// The distribution that it is made of.
  [[nodiscard]] const Distribution& base_dist() const { return *base_; }
  /// How many dimensions of its batch belong to one sample.
  [[nodiscard]] int64_t reinterpreted_batch_ndims() const { return count_; }
  [[nodiscard]] std::string repr() const override;
  [[nodiscard]] bool has_rsample() const override { return base_->has_rsample(); }
  [[nodiscard]] bool has_enumerate_support() const override { return count_ == 0 && base_->has_enumerate_support(); }
  [[nodiscard]] Constraint support() const override { return constraints::independent(base_->support(), count_); }

 protected:
  Tensor do_mean() const override { return base_->mean(); }
  Tensor do_mode() const override { return base_->mode(); }
  Tensor do_variance() const override { return base_->variance(); }
  Tensor do_sample(const Shape& shape) const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_entropy() const override;
  Tensor do_enumerate_support() const override;
  void do_expand(const Shape& batch_shape) override;

 private:
  /// Of an extended shape, the part that is the samples'.
  [[nodiscard]] Shape sample_part(const Shape& shape) const;

  std::shared_ptr<const Distribution> base_;
  int64_t count_;
};

}  // namespace tandem::distributions
