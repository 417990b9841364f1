// Reading and writing along one dimension, at the places that an index tensor names. index is int64 or int32.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace tandem {

/// y[i][j] = x[index[i][j]][j] for dim 0, and so on. As torch.gather.
[[nodiscard]] Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, Site site = Site::here());
/// gather, where x and indices broadcast in the other dimensions and indices may be negative; of the flattened tensors without `dim`. As
/// torch.take_along_dim.
[[nodiscard]] Tensor take_along_dim(const Tensor& x, const Tensor& indices, std::optional<int64_t> dim = {}, Site site = Site::here());
/// x with y[index[i][j]][j] = source[i][j] for dim 0, and so on; `reduce` "add" or "multiply" combines it with what is there. As
/// torch.scatter.
[[nodiscard]] Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Operand& source, Site site = Site::here());
[[nodiscard]] Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Operand& source, std::string_view reduce,
                             Site site = Site::here());
/// x with source added at these places. As torch.scatter_add.
[[nodiscard]] Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, Site site = Site::here());
/// scatter that combines all that comes to a place by "sum", "prod", "mean", "amax" or "amin", with what was there where `include_self`. As
/// torch.scatter_reduce.
[[nodiscard]] Tensor scatter_reduce(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                                    Flag include_self = true, Site site = Site::here());

/// x with alpha times the slices of `source` added at `index`. As torch.index_add.
[[nodiscard]] Tensor index_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1,
                               Site site = Site::here());
/// x with the slices of `source` in place of those at `index`. As torch.index_copy.
[[nodiscard]] Tensor index_copy(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, Site site = Site::here());
/// x with the slices of `source` combined by "prod", "mean", "amax" or "amin" at `index`, with those of x where `include_self`. As
/// torch.index_reduce.
[[nodiscard]] Tensor index_reduce(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                                  Flag include_self = true, Site site = Site::here());
/// x with `value` (a number or a 0-dim tensor) in the slices at `index`. As torch.index_fill.
[[nodiscard]] Tensor index_fill(const Tensor& x, int64_t dim, const Tensor& index, const Operand& value, Site site = Site::here());
/// Each element `repeats` times, of the flattened tensor without `dim`. As torch.repeat_interleave.
[[nodiscard]] Tensor repeat_interleave(const Tensor& x, int64_t repeats, std::optional<int64_t> dim = {},
                                       std::optional<int64_t> output_size = {}, Site site = Site::here());
/// Each slice as often as `repeats` says for it. Waits for the device unless `output_size`, the sum of repeats, is given.
[[nodiscard]] Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, std::optional<int64_t> dim = {},
                                       std::optional<int64_t> output_size = {}, Site site = Site::here());
/// 0, 1, … each as often as `repeats` says.
[[nodiscard]] Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size = {}, Site site = Site::here());

}  // namespace tandem
