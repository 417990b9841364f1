#include "libtorch/functions_linalg.h"

namespace torch {

Tensor linalg::pinv(const Tensor& A, double rcond, bool hermitian, Site site) {
  return tandem::linalg::pinv(A, {.rtol = tandem::Operand(rcond), .hermitian = hermitian}, site);
}

Tensor linalg::matrix_rank(const Tensor& A, double tol, bool hermitian, Site site) {
  return tandem::linalg::matrix_rank(A, {.atol = tandem::Operand(tol), .rtol = tandem::Operand(0.0), .hermitian = hermitian}, site);
}

Tensor linalg::linalg_norm(const Tensor& x, const std::optional<Scalar>& ord, IntArrayRef dims, bool keepdim,
                           std::optional<ScalarType> dtype, Site site) {
  return tandem::linalg::norm(x, ord ? std::optional(ord->to<double>()) : std::nullopt, dims, keepdim, dtype, site);
}

Tensor linalg_det(const Tensor& A, Site site) { return tandem::linalg::det(A, site); }

Tensor linalg_inv(const Tensor& A, Site site) { return tandem::linalg::inv(A, site); }

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left, Site site) { return tandem::linalg::solve(A, B, left, site); }

Tensor linalg_cholesky(const Tensor& A, bool upper, Site site) { return tandem::linalg::cholesky(A, upper, site); }

Tensor linalg_vector_norm(const Tensor& x, const Scalar& ord, IntArrayRef dims, bool keepdim, std::optional<ScalarType> dtype, Site site) {
  return tandem::linalg::vector_norm(x, ord.to<double>(), dims, keepdim, dtype, site);
}

Tensor linalg_norm(const Tensor& x, const std::optional<Scalar>& ord, IntArrayRef dims, bool keepdim, std::optional<ScalarType> dtype,
                   Site site) {
  return linalg::linalg_norm(x, ord, dims, keepdim, dtype, site);
}

Tensor det(const Tensor& A, Site site) { return tandem::linalg::det(A, site); }

Tensor inverse(const Tensor& A, Site site) { return tandem::linalg::inv(A, site); }

Tensor logdet(const Tensor& A, Site site) { return tandem::linalg::det(A, site).log(site); }

Tensor cholesky(const Tensor& A, bool upper, Site site) { return tandem::linalg::cholesky(A, upper, site); }

Tensor matrix_power(const Tensor& A, int64_t n, Site site) { return tandem::linalg::matrix_power(A, n, site); }

Tensor pinverse(const Tensor& A, double rcond, Site site) { return linalg::pinv(A, rcond, false, site); }

std::tuple<Tensor, Tensor> qr(const Tensor& A, bool some, Site site) {
  const auto result = tandem::linalg::qr(A, some ? "reduced" : "complete", site);
  return {result.Q, result.R};
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, bool some, bool compute_uv, Site site) {
  if (!compute_uv) return {Tensor(), tandem::linalg::svdvals(A, site), Tensor()};
  const auto result = tandem::linalg::svd(A, !some, site);
  return {result.U, result.S, result.Vh.transpose(-2, -1, site)};
}

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& b, const Tensor& A, bool upper, bool transpose, bool unitriangular, Site site) {
  const Tensor left = transpose ? A.transpose(-2, -1, site) : A;
  return {tandem::linalg::solve_triangular(left, b, upper != transpose, true, unitriangular, site), A};
}

}  // namespace torch
