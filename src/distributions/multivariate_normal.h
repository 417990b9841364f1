// The normal distribution of vectors.
#pragma once

#include "distributions/distribution.h"

namespace tandem::distributions {

/// One matrix (…, n, n) of a multivariate normal distribution: {.scale_tril = L}.
struct MultivariateNormalOptions {
  Tensor covariance_matrix = {};  // symmetric, positive-definite
  Tensor precision_matrix = {};   // its inverse
  Tensor scale_tril = {};         // its lower Cholesky factor, which is what is computed with
  std::optional<bool> validate_args = {};
};

/// Normal vectors with the mean loc (…, n): event_shape is [n], and batch_shape what the other sizes of loc and the matrix broadcast to.
/// float32 or float64. ValueError unless exactly one matrix is given, and for one that is not as above. As
/// torch.distributions.MultivariateNormal.
class MultivariateNormal : public DistributionOf<MultivariateNormal> {
 public:
  MultivariateNormal(const Tensor& loc, const MultivariateNormalOptions& matrix, Site site = Site::here());
  MultivariateNormal(const Tensor& loc, const Tensor& covariance_matrix, const DistributionOptions& options = {}, Site site = Site::here());

  /// The mean.
  [[nodiscard]] Tensor loc() const { return parameter(0); }
  /// The lower Cholesky factor of the covariance.
  [[nodiscard]] Tensor scale_tril(Site site = Site::here()) const;
  /// The covariance.
  [[nodiscard]] Tensor covariance_matrix(Site site = Site::here()) const;
  /// Its inverse.
  [[nodiscard]] Tensor precision_matrix(Site site = Site::here()) const;
  [[nodiscard]] Constraint support() const override { return constraints::real_vector(); }
  /// For the library: the factor in the sizes in which it was given.
  [[nodiscard]] const Tensor& factor() const { return factor_; }

 protected:
  Tensor do_mean() const override { return loc(); }
  Tensor do_mode() const override { return loc(); }
  Tensor do_variance() const override;
  Tensor do_rsample(const Shape& shape) const override;
  Tensor do_log_prob(const Tensor& value) const override;
  Tensor do_entropy() const override;

 private:
  /// The matrix for each of the batch.
  [[nodiscard]] Tensor whole(const Tensor& matrix) const;

  Tensor factor_;
};

namespace detail {

/// The sum of the squares of L^-1 columns, of a lower triangular L (…, n, n) and columns (…, n, m).
[[nodiscard]] Tensor spread(const Tensor& factor, const Tensor& columns);
/// The logarithm of the determinant of a triangular matrix.
[[nodiscard]] Tensor log_determinant(const Tensor& factor);

}  // namespace detail
}  // namespace tandem::distributions
