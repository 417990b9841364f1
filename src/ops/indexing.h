// Reading and writing at positions that other tensors name.
#pragma once

#include <vector>

#include "tensor/index.h"
#include "tensor/tensor.h"

namespace tandem {

/// Slices of x along a dimension, in the order of a vector `index`. As torch.index_select.
[[nodiscard]] Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index, Site site = Site::here());
/// x with `value` at the positions that the indices name, added where `accumulate`. As torch.index_put.
[[nodiscard]] Tensor index_put(const Tensor& x, const std::vector<Index>& indices, const Operand& value, Flag accumulate = false,
                               Site site = Site::here());
/// Elements of the flattened x, with index's sizes; negative ones count from the end. As torch.take.
[[nodiscard]] Tensor take(const Tensor& x, const Tensor& index, Site site = Site::here());
/// x with the elements of `source` at these places, added where `accumulate`. As torch.put.
[[nodiscard]] Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, Flag accumulate = false, Site site = Site::here());
/// x with `value` where `mask` is true. As torch.Tensor.masked_fill.
[[nodiscard]] Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value, Site site = Site::here());
/// The elements where `mask` is true, as a vector. Waits for the device: the size depends on the data.
[[nodiscard]] Tensor masked_select(const Tensor& x, const Tensor& mask, Site site = Site::here());
/// x with the elements of `source`, one after another, where `mask` is true. Waits for the device: source must have enough of them. As
/// torch.Tensor.masked_scatter.
[[nodiscard]] Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source, Site site = Site::here());
/// The positions of elements that are not zero, (count, dim). Waits for the device. As torch.nonzero, torch.argwhere.
[[nodiscard]] Tensor nonzero(const Tensor& x, Site site = Site::here());
[[nodiscard]] Tensor argwhere(const Tensor& x, Site site = Site::here());
/// The same as a vector for each dimension. As torch.where(condition), which is torch.nonzero(condition, as_tuple=True).
[[nodiscard]] std::vector<Tensor> where(const Tensor& condition, Site site = Site::here());
/// The lower (upper) triangle, the rest zero.
[[nodiscard]] Tensor tril(const Tensor& x, int64_t diagonal = 0, Site site = Site::here());
/// The upper triangle, the rest zero.
[[nodiscard]] Tensor triu(const Tensor& x, int64_t diagonal = 0, Site site = Site::here());

}  // namespace tandem
