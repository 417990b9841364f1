// torch::linalg, and the older names of its functions in torch itself.
#pragma once

#include <tuple>

#include "libtorch/types.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/norms.h"

namespace torch {

using tandem::Site;

namespace linalg {
using tandem::linalg::cholesky, tandem::linalg::cross, tandem::linalg::det, tandem::linalg::diagonal, tandem::linalg::eigh,
    tandem::linalg::eigvalsh, tandem::linalg::inv, tandem::linalg::lstsq, tandem::linalg::matrix_norm, tandem::linalg::matrix_power,
    tandem::linalg::matrix_rank, tandem::linalg::multi_dot, tandem::linalg::norm, tandem::linalg::pinv, tandem::linalg::qr,
    tandem::linalg::slogdet, tandem::linalg::solve, tandem::linalg::solve_triangular, tandem::linalg::svd, tandem::linalg::svdvals,
    tandem::linalg::vecdot, tandem::linalg::vector_norm;

/// Singular values below rcond times the largest count as 0.
[[nodiscard]] Tensor pinv(const Tensor& A, double rcond, bool hermitian = false, Site site = Site::here());
/// Singular values of at least `tol` count.
[[nodiscard]] Tensor matrix_rank(const Tensor& A, double tol, bool hermitian = false, Site site = Site::here());
[[nodiscard]] Tensor linalg_norm(const Tensor& x, const std::optional<Scalar>& ord = {}, IntArrayRef dims = {}, bool keepdim = false,
                                 std::optional<ScalarType> dtype = {}, Site site = Site::here());
}  // namespace linalg

// As the dispatcher's names have them.
[[nodiscard]] Tensor linalg_det(const Tensor& A, Site site = Site::here());
[[nodiscard]] Tensor linalg_inv(const Tensor& A, Site site = Site::here());
[[nodiscard]] Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left = true, Site site = Site::here());
[[nodiscard]] Tensor linalg_cholesky(const Tensor& A, bool upper = false, Site site = Site::here());
[[nodiscard]] Tensor linalg_vector_norm(const Tensor& x, const Scalar& ord = 2, IntArrayRef dims = {}, bool keepdim = false,
                                        std::optional<ScalarType> dtype = {}, Site site = Site::here());
[[nodiscard]] Tensor linalg_norm(const Tensor& x, const std::optional<Scalar>& ord = {}, IntArrayRef dims = {}, bool keepdim = false,
                                 std::optional<ScalarType> dtype = {}, Site site = Site::here());
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
[[nodiscard]] Tensor det(const Tensor& A, Site site = Site::here());
[[nodiscard]] Tensor inverse(const Tensor& A, Site site = Site::here());
[[nodiscard]] inline auto slogdet(const Tensor& A, Site site = Site::here()) { return tandem::linalg::slogdet(A, site); }
/// The logarithm of the determinant; nan where it is negative.
[[nodiscard]] Tensor logdet(const Tensor& A, Site site = Site::here());
[[nodiscard]] Tensor cholesky(const Tensor& A, bool upper = false, Site site = Site::here());
[[nodiscard]] Tensor matrix_power(const Tensor& A, int64_t n, Site site = Site::here());
[[nodiscard]] Tensor pinverse(const Tensor& A, double rcond = 1e-15, Site site = Site::here());
[[nodiscard]] std::tuple<Tensor, Tensor> qr(const Tensor& A, bool some = true, Site site = Site::here());
/// U, S and V: not its transpose, which linalg::svd gives.
[[nodiscard]] std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, bool some = true, bool compute_uv = true, Site site = Site::here());
/// The solution X, and A, of A X = b with a triangular A.
[[nodiscard]] std::tuple<Tensor, Tensor> triangular_solve(const Tensor& b, const Tensor& A, bool upper = true, bool transpose = false,
                                                          bool unitriangular = false, Site site = Site::here());

}  // namespace torch
