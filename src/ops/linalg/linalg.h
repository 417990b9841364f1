// Linear algebra as torch.linalg has it, in its own namespace: batches of matrices, which are the last two dimensions, of float32 or
// float64. A matrix that can't be inverted, factored or iterated on is an error: at once on the CPU, at the next synchronisation of a GPU.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace tandem::linalg {

/// What eigh() gives.
struct EighResult {
  Tensor eigenvalues, eigenvectors;
  template <class A, class B>
  operator std::tuple<A, B>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(eigenvalues), detail::tied<B>(eigenvectors)};
  }
};
/// What qr() gives.
struct QrResult {
  Tensor Q, R;
  template <class A, class B>
  operator std::tuple<A, B>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(Q), detail::tied<B>(R)};
  }
};
/// What svd() gives: A = U diag(S) Vh.
struct SvdResult {
  Tensor U, S, Vh;
  template <class A, class B, class C>
  operator std::tuple<A, B, C>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(U), detail::tied<B>(S), detail::tied<C>(Vh)};
  }
};
/// What slogdet() gives: the determinant is sign * exp(logabsdet).
struct SlogdetResult {
  Tensor sign, logabsdet;
  template <class A, class B>
  operator std::tuple<A, B>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(sign), detail::tied<B>(logabsdet)};
  }
};
/// What lstsq() gives.
struct LstsqResult {
  Tensor solution, residuals, rank, singular_values;
  template <class A, class B, class C, class D>
  operator std::tuple<A, B, C, D>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(solution), detail::tied<B>(residuals), detail::tied<C>(rank), detail::tied<D>(singular_values)};
  }
};
/// Singular values up to max(atol, rtol * the largest) count as zero. Without either, rtol is the dtype's epsilon times the longer side.
struct Tolerance {
  std::optional<Operand> atol = {}, rtol = {};
  bool hermitian = false;  // the matrices are symmetric: their eigenvalues will do
};

// --- Decompositions
/// L of L Lᵀ = A, or Lᵀ with `upper`; only that triangle of A is read. Error where A is not positive-definite.
[[nodiscard]] Tensor cholesky(const Tensor& A, Flag upper = false, Site site = Site::here());
/// Q R = A: `mode` "reduced", "complete" (Q square), or "r" (Q empty).
[[nodiscard]] QrResult qr(const Tensor& A, std::string_view mode = "reduced", Site site = Site::here());
/// Eigenvalues in ascending order and eigenvectors of symmetric matrices, from the triangle `UPLO`, "L" or "U".
[[nodiscard]] EighResult eigh(const Tensor& A, std::string_view UPLO = "L", Site site = Site::here());
/// The eigenvalues alone. As torch.linalg.eigvalsh.
[[nodiscard]] Tensor eigvalsh(const Tensor& A, std::string_view UPLO = "L", Site site = Site::here());
/// U diag(S) Vh = A, S in descending order; U and Vh square with `full_matrices`.
[[nodiscard]] SvdResult svd(const Tensor& A, Flag full_matrices = true, Site site = Site::here());
/// The singular values alone. As torch.linalg.svdvals.
[[nodiscard]] Tensor svdvals(const Tensor& A, Site site = Site::here());

// --- Equations
/// The determinant. As torch.linalg.det.
[[nodiscard]] Tensor det(const Tensor& A, Site site = Site::here());
/// The sign of the determinant and the logarithm of its magnitude.
[[nodiscard]] SlogdetResult slogdet(const Tensor& A, Site site = Site::here());
/// Error where A is singular.
[[nodiscard]] Tensor inv(const Tensor& A, Site site = Site::here());
/// X of A X = B, or of X A = B without `left`; B may be a (batch of) vectors. Batches broadcast. Error where A is singular.
[[nodiscard]] Tensor solve(const Tensor& A, const Tensor& B, Flag left = true, Site site = Site::here());
/// The same for a triangular A, of which the other triangle is not read, nor the diagonal, taken as ones, with `unitriangular`.
[[nodiscard]] Tensor solve_triangular(const Tensor& A, const Tensor& B, Flag upper, Flag left = true, Flag unitriangular = false,
                                      Site site = Site::here());
/// Moore and Penrose's inverse.
[[nodiscard]] Tensor pinv(const Tensor& A, const Tolerance& tolerance = {}, Site site = Site::here());
/// How many singular values are not zero, as int64.
[[nodiscard]] Tensor matrix_rank(const Tensor& A, const Tolerance& tolerance = {}, Site site = Site::here());
/// X of the least |A X - B|, and of these of the least norm; singular values up to rcond times the largest count as zero. `residuals` and
/// `singular_values` are empty, as those of PyTorch's driver for the CPU, "gelsy".
[[nodiscard]] LstsqResult lstsq(const Tensor& A, const Tensor& B, std::optional<double> rcond = {}, Site site = Site::here());

// --- Products and views
/// A multiplied with itself n times; of the inverse where n is negative. As torch.linalg.matrix_power.
[[nodiscard]] Tensor matrix_power(const Tensor& A, int64_t n, Site site = Site::here());
/// The product of several matrices, in the cheapest order; the first and the last may be vectors.
[[nodiscard]] Tensor multi_dot(const std::vector<Tensor>& tensors, Site site = Site::here());
/// The dot product along a dimension. As torch.linalg.vecdot.
[[nodiscard]] Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim = -1, Site site = Site::here());
/// The vector product along a dimension of size 3. As torch.linalg.cross.
[[nodiscard]] Tensor cross(const Tensor& input, const Tensor& other, int64_t dim = -1, Site site = Site::here());
/// A view, as tandem::diagonal, of the last two dimensions.
[[nodiscard]] Tensor diagonal(const Tensor& A, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1, Site site = Site::here());

}  // namespace tandem::linalg
