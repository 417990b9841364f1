// Reading and writing at positions that other tensors name.
#pragma once

#include <vector>

#include "tensor/index.h"
#include "tensor/tensor.h"

namespace tandem {

[[nodiscard]] Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index, Site site = Site::here());
[[nodiscard]] Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, Site site = Site::here());
[[nodiscard]] Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Operand& source, Site site = Site::here());
[[nodiscard]] Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, Site site = Site::here());
[[nodiscard]] Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value, Site site = Site::here());
/// The elements where `mask` is true, as a vector. Waits for the device: the size depends on the data.
[[nodiscard]] Tensor masked_select(const Tensor& x, const Tensor& mask, Site site = Site::here());
/// The positions of elements that are not zero, (count, dim). Waits for the device.
[[nodiscard]] Tensor nonzero(const Tensor& x, Site site = Site::here());
/// Rows of `weight` (n, d) at `indices`. An index outside [0, n) is an error. As torch.nn.functional.embedding.
[[nodiscard]] Tensor embedding(const Tensor& indices, const Tensor& weight, std::optional<int64_t> padding_idx = {},
                               Site site = Site::here());
/// The lower (upper) triangle, the rest zero.
[[nodiscard]] Tensor tril(const Tensor& x, int64_t diagonal = 0, Site site = Site::here());
[[nodiscard]] Tensor triu(const Tensor& x, int64_t diagonal = 0, Site site = Site::here());

}  // namespace tandem
