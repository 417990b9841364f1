// Products made from others: outer and inner ones, tensordot, kron, cross, bilinear, distances.
#pragma once

#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace tandem {

/// The sum of products of two vectors; dot of real numbers.
[[nodiscard]] Tensor vdot(const Tensor& a, const Tensor& b, Site site = Site::here());
/// Sums of products over the last dimensions; with a 0-dim tensor a * b. As torch.inner.
[[nodiscard]] Tensor inner(const Tensor& a, const Tensor& b, Site site = Site::here());
/// a[i] * b[j] of two vectors.
[[nodiscard]] Tensor outer(const Tensor& a, const Tensor& b, Site site = Site::here());
/// beta * input + alpha * a b for a matrix and a vector, and for two vectors as in outer. addr takes bool too.
[[nodiscard]] Tensor addmv(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1,
                           Site site = Site::here());
[[nodiscard]] Tensor addr(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1,
                          Site site = Site::here());
/// Sums over the last `dims` dimensions of a and the first of b; or over those named for each. As torch.tensordot.
[[nodiscard]] Tensor tensordot(const Tensor& a, const Tensor& b, int64_t dims = 2, Site site = Site::here());
[[nodiscard]] Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& dims_a, const Shape& dims_b, Site site = Site::here());
/// Kronecker's product.
[[nodiscard]] Tensor kron(const Tensor& a, const Tensor& b, Site site = Site::here());
/// The vector product over a dimension of size 3, by default the first such. As torch.cross.
[[nodiscard]] Tensor cross(const Tensor& a, const Tensor& b, std::optional<int64_t> dim = {}, Site site = Site::here());
/// The product of several matrices, in the cheapest order.
[[nodiscard]] Tensor chain_matmul(const std::vector<Tensor>& matrices, Site site = Site::here());
/// y[…, k] = x1 W[k] x2 + bias[k]; weight (out, in1, in2), `bias` may be undefined. As torch.nn.functional.bilinear.
[[nodiscard]] Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = Tensor(),
                              Site site = Site::here());
/// Distances by the p-norm between all rows of x1 (…, n, k) and x2 (…, m, k): (…, n, m). `compute_mode` says when Euclid's may come from a
/// matrix product, which is faster and less precise. As torch.cdist.
[[nodiscard]] Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2,
                           std::string_view compute_mode = "use_mm_for_euclid_dist_if_necessary", Site site = Site::here());

}  // namespace tandem
