// Copies with their elements in another order.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

/// The order along each of `dims` reversed: a copy.
[[nodiscard]] Tensor flip(const Tensor& x, const Shape& dims, Site site = Site::here());
/// Columns (the second dimension) and rows (the first) reversed.
[[nodiscard]] Tensor fliplr(const Tensor& x, Site site = Site::here());
/// flip of the first dimension. As torch.flipud.
[[nodiscard]] Tensor flipud(const Tensor& x, Site site = Site::here());
/// Elements moved on by `shifts` along `dims`, those past the end coming in at the start; without `dims` along all elements as a vector.
[[nodiscard]] Tensor roll(const Tensor& x, const Shape& shifts, const Shape& dims = {}, Site site = Site::here());
/// Turned `k` times by a quarter, from the first of `dims` towards the second.
[[nodiscard]] Tensor rot90(const Tensor& x, int64_t k = 1, const Shape& dims = {0, 1}, Site site = Site::here());

}  // namespace tandem
