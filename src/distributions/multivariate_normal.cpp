#include "distributions/multivariate_normal.h"

#include <string_view>

#include "base/error.h"
#include "base/work_site.h"
#include "distributions/numeric.h"
#include "distributions/sampling.h"
#include "ops/creation.h"
#include "ops/linalg/linalg.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/view.h"

namespace tandem::distributions {
namespace {

Tensor identity_like(const Tensor& matrix) {
  return eye(matrix.size(-1), {}, {.dtype = matrix.dtype(), .device = matrix.device()}).expand(matrix.sizes());
}

/// The name and the tensor of the one matrix that is given.
Parameter given_matrix(const MultivariateNormalOptions& options) {
  const Parameter all[] = {{"covariance_matrix", options.covariance_matrix, constraints::positive_definite()},
                           {"precision_matrix", options.precision_matrix, constraints::positive_definite()},
                           {"scale_tril", options.scale_tril, constraints::lower_cholesky()}};
  const Parameter* found = nullptr;
  for (const Parameter& each : all) {
    if (!each.value.defined()) continue;
    if (found)
      fail<ValueError>("[MultivariateNormal] Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified, but ",
                       found->name, " and ", each.name, " are.");
    found = &each;
  }
  if (!found) fail<ValueError>("[MultivariateNormal] One of covariance_matrix, precision_matrix and scale_tril must be specified.");
  return *found;
}

std::vector<Parameter> vectors(const Tensor& loc, const MultivariateNormalOptions& options, Site site) {
  const tandem::detail::ComposedAt line(site);
  Parameter matrix = given_matrix(options);
  if (loc.dim() < 1) fail<ValueError>("[MultivariateNormal] loc must be at least one-dimensional.");
  const Shape &sizes = matrix.value.sizes(), &means = loc.sizes();
  if (sizes.size() < 2)
    fail<ValueError>("[MultivariateNormal] ", matrix.name,
                     " matrix must be at least two-dimensional, with optional leading batch dimensions");
  const int64_t n = means.back();
  if (sizes.back() != n || sizes[sizes.size() - 2] != n)
    fail<ValueError>("[MultivariateNormal] ", matrix.name, " must have sizes [..., ", n, ", ", n, "] for loc of sizes ", means,
                     ", but has ", sizes);
  if (loc.device() != matrix.value.device())
    fail("[MultivariateNormal] loc is on ", loc.device(), ", but ", matrix.name, " is on ", matrix.value.device(), ": move one of them");
  const Shape batch = broadcast_shapes(means.slice(0, means.size() - 1), sizes.slice(0, sizes.size() - 2));
  matrix.value = matrix.value.expand(detail::joined(batch, {n, n}));
  return {{"loc", loc.expand(detail::joined(batch, {n})), constraints::real_vector()}, matrix};
}

/// The Cholesky factor of the covariance.
Tensor factor_of(const MultivariateNormalOptions& options) {
  if (options.covariance_matrix.defined()) return linalg::cholesky(options.covariance_matrix);
  if (options.scale_tril.defined()) return options.scale_tril;
  // By the factor of the precision, rows and columns reversed, whose inverse is triangular.
  const Tensor factor = linalg::cholesky(options.precision_matrix.flip({-2, -1})).flip({-2, -1}).mT();
  return linalg::solve_triangular(factor, identity_like(factor), false);
}

}  // namespace

Tensor detail::spread(const Tensor& factor, const Tensor& columns) {
  const auto batch_of = [](const Tensor& x) { return x.sizes().slice(0, x.sizes().size() - 2); };
  const Shape batch = broadcast_shapes(batch_of(factor), batch_of(columns));
  const auto whole = [&](const Tensor& x) { return x.expand(joined(batch, {x.size(-2), x.size(-1)})); };
  return linalg::solve_triangular(whole(factor), whole(columns), false).square().sum({-2, -1});
}

Tensor detail::log_determinant(const Tensor& factor) { return factor.diagonal(0, -2, -1).log().sum(-1); }

MultivariateNormal::MultivariateNormal(const Tensor& loc, const MultivariateNormalOptions& matrix, Site site)
    : DistributionOf("MultivariateNormal", vectors(loc, matrix, site), detail::last_size(loc), matrix.validate_args, site) {
  const tandem::detail::ComposedAt line(site);
  factor_ = factor_of(matrix);
}
MultivariateNormal::MultivariateNormal(const Tensor& loc, const Tensor& covariance_matrix, const DistributionOptions& options, Site site)
    : MultivariateNormal(loc, {.covariance_matrix = covariance_matrix, .validate_args = options.validate_args}, site) {}

Tensor MultivariateNormal::whole(const Tensor& matrix) const {
  return matrix.expand(detail::joined(batch_shape(), {matrix.size(-2), matrix.size(-1)}));
}
Tensor MultivariateNormal::scale_tril(Site site) const {
  const tandem::detail::ComposedAt line(site);
  return whole(factor_);
}
Tensor MultivariateNormal::covariance_matrix(Site site) const {
  const tandem::detail::ComposedAt line(site);
  if (std::string_view(parameters()[1].name) == "covariance_matrix") return parameter(1);
  return whole(factor_.matmul(factor_.mT()));
}
Tensor MultivariateNormal::precision_matrix(Site site) const {
  const tandem::detail::ComposedAt line(site);
  if (std::string_view(parameters()[1].name) == "precision_matrix") return parameter(1);
  const Tensor inverse = linalg::solve_triangular(factor_, identity_like(factor_), false);
  return whole(inverse.mT().matmul(inverse));
}

Tensor MultivariateNormal::do_variance() const { return factor_.square().sum(-1).expand(extended_shape()); }
Tensor MultivariateNormal::do_rsample(const Shape& shape) const {
  return loc() + factor_.matmul(detail::standard_normal(shape, loc()).unsqueeze(-1)).squeeze(-1);
}
Tensor MultivariateNormal::do_log_prob(const Tensor& value) const {
  const Tensor distance = detail::spread(factor_, (value - loc()).unsqueeze(-1));
  return -0.5 * distance - detail::log_determinant(factor_) - event_shape()[0] * detail::kLogSqrt2Pi;
}
Tensor MultivariateNormal::do_entropy() const {
  return (detail::log_determinant(factor_) + event_shape()[0] * (0.5 + detail::kLogSqrt2Pi)).expand(batch_shape());
}

}  // namespace tandem::distributions
