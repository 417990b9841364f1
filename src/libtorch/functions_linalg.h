// torch::linalg, and the older names of its functions in torch itself.
#pragma once

#include <tuple>

#include "libtorch/types.h"
#include "ops/linalg.h"
#include "ops/norms.h"

namespace torch {

using tandem::Site;

namespace linalg {
using tandem::linalg::cholesky;
using tandem::linalg::cross;
using tandem::linalg::det;
using tandem::linalg::diagonal;
using tandem::linalg::eigh;
using tandem::linalg::eigvalsh;
using tandem::linalg::inv;
using tandem::linalg::lstsq;
using tandem::linalg::matrix_norm;
using tandem::linalg::matrix_power;
using tandem::linalg::matrix_rank;
using tandem::linalg::multi_dot;
using tandem::linalg::norm;
using tandem::linalg::pinv;
using tandem::linalg::qr;
using tandem::linalg::slogdet;
using tandem::linalg::solve;
using tandem::linalg::solve_triangular;
using tandem::linalg::svd;
using tandem::linalg::svdvals;
using tandem::linalg::vecdot;
using tandem::linalg::vector_norm;

/// Singular values below rcond times the largest count as 0.
[[nodiscard]] inline Tensor pinv(const Tensor& A, double rcond, bool hermitian = false, Site site = Site::here()) {
  return tandem::linalg::pinv(A, {.rtol = tandem::Operand(rcond), .hermitian = hermitian}, site);
}
/// Singular values of at least `tol` count.
[[nodiscard]] inline Tensor matrix_rank(const Tensor& A, double tol, bool hermitian = false, Site site = Site::here()) {
  return tandem::linalg::matrix_rank(A, {.atol = tandem::Operand(tol), .rtol = tandem::Operand(0.0), .hermitian = hermitian}, site);
}
[[nodiscard]] inline Tensor linalg_norm(const Tensor& x, const std::optional<Scalar>& ord = {}, IntArrayRef dims = {}, bool keepdim = false,
                                        std::optional<ScalarType> dtype = {}, Site site = Site::here()) {
  return tandem::linalg::norm(x, ord ? std::optional(ord->to<double>()) : std::nullopt, dims, keepdim, dtype, site);
}
}  // namespace linalg

// As the dispatcher's names have them.
[[nodiscard]] inline Tensor linalg_det(const Tensor& A, Site site = Site::here()) { return tandem::linalg::det(A, site); }
[[nodiscard]] inline Tensor linalg_inv(const Tensor& A, Site site = Site::here()) { return tandem::linalg::inv(A, site); }
[[nodiscard]] inline Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left = true, Site site = Site::here()) {
  return tandem::linalg::solve(A, B, left, site);
}
[[nodiscard]] inline Tensor linalg_cholesky(const Tensor& A, bool upper = false, Site site = Site::here()) {
  return tandem::linalg::cholesky(A, upper, site);
}
[[nodiscard]] inline Tensor linalg_vector_norm(const Tensor& x, const Scalar& ord = 2, IntArrayRef dims = {}, bool keepdim = false,
                                               std::optional<ScalarType> dtype = {}, Site site = Site::here()) {
  return tandem::linalg::vector_norm(x, ord.to<double>(), dims, keepdim, dtype, site);
}
[[nodiscard]] inline Tensor linalg_norm(const Tensor& x, const std::optional<Scalar>& ord = {}, IntArrayRef dims = {}, bool keepdim = false,
                                        std::optional<ScalarType> dtype = {}, Site site = Site::here()) {
  return linalg::linalg_norm(x, ord, dims, keepdim, dtype, site);
}
[[nodiscard]] inline auto linalg_svd(const Tensor& A, bool full_matrices = true, Site site = Site::here()) {
  return tandem::linalg::svd(A, full_matrices, site);
}
[[nodiscard]] inline auto linalg_qr(const Tensor& A, std::string_view mode = "reduced", Site site = Site::here()) {
  return tandem::linalg::qr(A, mode, site);
}
[[nodiscard]] inline auto linalg_eigh(const Tensor& A, std::string_view UPLO = "L", Site site = Site::here()) {
  return tandem::linalg::eigh(A, UPLO, site);
}

/// The determinant, and so on: the names from before torch::linalg.
[[nodiscard]] inline Tensor det(const Tensor& A, Site site = Site::here()) { return tandem::linalg::det(A, site); }
[[nodiscard]] inline Tensor inverse(const Tensor& A, Site site = Site::here()) { return tandem::linalg::inv(A, site); }
[[nodiscard]] inline auto slogdet(const Tensor& A, Site site = Site::here()) { return tandem::linalg::slogdet(A, site); }
/// The logarithm of the determinant; nan where it is negative.
[[nodiscard]] inline Tensor logdet(const Tensor& A, Site site = Site::here()) { return tandem::linalg::det(A, site).log(site); }
[[nodiscard]] inline Tensor cholesky(const Tensor& A, bool upper = false, Site site = Site::here()) {
  return tandem::linalg::cholesky(A, upper, site);
}
[[nodiscard]] inline Tensor matrix_power(const Tensor& A, int64_t n, Site site = Site::here()) {
  return tandem::linalg::matrix_power(A, n, site);
}
[[nodiscard]] inline Tensor pinverse(const Tensor& A, double rcond = 1e-15, Site site = Site::here()) {
  return linalg::pinv(A, rcond, false, site);
}
[[nodiscard]] inline std::tuple<Tensor, Tensor> qr(const Tensor& A, bool some = true, Site site = Site::here()) {
  auto [Q, R] = tandem::linalg::qr(A, some ? "reduced" : "complete", site);
  return {Q, R};
}
/// U, S and V: not its transpose, which linalg::svd gives.
[[nodiscard]] inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, bool some = true, bool compute_uv = true,
                                                            Site site = Site::here()) {
  if (!compute_uv) return {Tensor(), tandem::linalg::svdvals(A, site), Tensor()};
  auto [U, S, Vh] = tandem::linalg::svd(A, !some, site);
  return {U, S, Vh.transpose(-2, -1, site)};
}
/// The solution X, and A, of A X = b with a triangular A.
[[nodiscard]] inline std::tuple<Tensor, Tensor> triangular_solve(const Tensor& b, const Tensor& A, bool upper = true,
                                                                 bool transpose = false, bool unitriangular = false,
                                                                 Site site = Site::here()) {
  const Tensor left = transpose ? A.transpose(-2, -1, site) : A;
  return {tandem::linalg::solve_triangular(left, b, upper != transpose, true, unitriangular, site), A};
}

}  // namespace torch
