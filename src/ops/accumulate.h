// Adding many elements to one place. Kernels make such sums of half types in float32; here they are rounded once.
#pragma once

#include <vector>

#include "kernels/table.h"
#include "ops/creation.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// What sums of a dtype's elements are made in: float32 for half types, else the dtype itself.
constexpr DType sum_type(DType dtype) { return is_half(dtype) ? kFloat32 : dtype; }

/// A tensor of these sizes and the dtype of `like` after `add` has filled it with sums; what `add` gets is of the type that sums are made
/// in. Without history.
template <class F>
Tensor summed(const Shape& sizes, const Tensor& like, Site site, F add) {
  const Tensor sums = empty(sizes, {.dtype = sum_type(like.dtype()), .device = like.device()}, site);
  add(sums);
  return sums.to(like.dtype(), {}, site);
}

/// Adds `values` to `target` at the positions that index tensors over its leading dimensions name, counted from the end where `negative`
/// ones may be. Without history.
void add_at(const char* op, const Tensor& target, const Tensor& values, const std::vector<Tensor>& indices, bool negative, Site site);
/// gather, for the operation that an error names.
[[nodiscard]] Tensor gather(const char* op, const Tensor& x, int64_t dim, const Tensor& index, Site site);
/// Scatters `source` into `target` along `dim`: target[index[i][j]][j] is combined with source[i][j] for dim 0. Without history.
void scatter_into(const char* op, kernels::Scatter mode, const Tensor& target, int64_t dim, const Tensor& index, const Tensor& source,
                  Site site);

}  // namespace tandem::ops
