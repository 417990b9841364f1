// Norms of vectors and matrices.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace tandem {

/// The p-norm over all elements, or over dimensions as one vector; p may be 0 (how many are not zero), infinity or -infinity. As
/// torch.norm.
[[nodiscard]] Tensor norm(const Tensor& x, double p = 2, Site site = Site::here());
[[nodiscard]] Tensor norm(const Tensor& x, double p, const Shape& dims, Flag keepdim = false, std::optional<DType> dtype = {},
                          Site site = Site::here());
/// "fro", the root of the sum of squares over `dims`, or "nuc", the sum of singular values.
[[nodiscard]] Tensor norm(const Tensor& x, std::string_view p, const Shape& dims = {}, Flag keepdim = false,
                          std::optional<DType> dtype = {}, Site site = Site::here());
/// The p-norm of a - b. As torch.dist.
[[nodiscard]] Tensor dist(const Tensor& a, const Tensor& b, double p = 2, Site site = Site::here());

namespace linalg {

/// The `ord`-norm over `dims` as one vector. As torch.linalg.vector_norm.
[[nodiscard]] Tensor vector_norm(const Tensor& x, double ord = 2, const Shape& dims = {}, Flag keepdim = false,
                                 std::optional<DType> dtype = {}, Site site = Site::here());
/// Of the matrices in two dimensions: "fro" as above, or "nuc", the sum of singular values. As torch.linalg.matrix_norm.
[[nodiscard]] Tensor matrix_norm(const Tensor& x, std::string_view ord = "fro", const Shape& dims = {-2, -1}, Flag keepdim = false,
                                 std::optional<DType> dtype = {}, Site site = Site::here());
/// The largest (ord 1) or smallest (-1) sum of magnitudes of a column, or of a row (infinity, -infinity), or singular value (2, -2).
[[nodiscard]] Tensor matrix_norm(const Tensor& x, double ord, const Shape& dims = {-2, -1}, Flag keepdim = false,
                                 std::optional<DType> dtype = {}, Site site = Site::here());
/// A vector norm over one dimension, a matrix norm over two; without `dims` of a vector, a matrix, or, without `ord`, of all elements. As
/// torch.linalg.norm.
[[nodiscard]] Tensor norm(const Tensor& x, std::optional<double> ord = {}, const Shape& dims = {}, Flag keepdim = false,
                          std::optional<DType> dtype = {}, Site site = Site::here());
[[nodiscard]] Tensor norm(const Tensor& x, std::string_view ord, const Shape& dims = {}, Flag keepdim = false,
                          std::optional<DType> dtype = {}, Site site = Site::here());

}  // namespace linalg
}  // namespace tandem
