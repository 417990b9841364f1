// Operators along some dimensions of their input: in the order in which these lie in memory, so that nothing is transposed for a kernel's
// sake.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "onnx/export/memory.h"

namespace tandem::onnx::exporting {

/// The dimensions by their strides, the widest first; those that repeat stay where they are.
[[nodiscard]] inline std::vector<size_t> order_of(const Elements& x) {
  std::vector<size_t> order(x.sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const bool repeats = std::any_of(x.strides.begin(), x.strides.end(), [](const Size& stride) { return stride.is(0); });
  if (!repeats) std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return x.strides[a].at[0] > x.strides[b].at[0]; });
  return order;
}
[[nodiscard]] inline Elements in_order(const Elements& x, const std::vector<size_t>& order) {
  Elements y = x;
  for (size_t d = 0; d < order.size(); ++d) {
    y.sizes[d] = x.sizes[order[d]];
    y.strides[d] = x.strides[order[d]];
  }
  return y;
}
/// Where dimension `d` has gone.
[[nodiscard]] inline int64_t place_of(size_t d, const std::vector<size_t>& order) {
  return std::find(order.begin(), order.end(), d) - order.begin();
}

}  // namespace tandem::onnx::exporting
