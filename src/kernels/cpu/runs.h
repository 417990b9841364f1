// Walking over strided elements: pieces of the last dimension, with an offset into each of several operands.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/strides.h"

namespace tandem::kernels::cpu {

/// Calls f(offsets, at, n) for the runs along the last dimension that make up elements [begin, end) in row-major order: `offsets` are where
/// each operand's run starts (in elements), `at` counts from begin. ndim >= 1.
template <int operands, class F>
void for_runs(int ndim, const int64_t* sizes, const int64_t* const (&strides)[operands], int64_t begin, int64_t end, F&& f) {
  const int last = ndim - 1;
  int64_t index[kMaxDims], base[operands] = {};
  for_indices(begin, ndim, sizes, [&](int d, int64_t i) {
    index[d] = i;
    for (int k = 0; d < last && k < operands; ++k) base[k] += i * strides[k][d];
  });
  for (int64_t at = begin; at < end;) {
    const int64_t n = std::min(sizes[last] - index[last], end - at);
    int64_t offsets[operands];
    for (int k = 0; k < operands; ++k) offsets[k] = base[k] + index[last] * strides[k][last];
    f(static_cast<const int64_t*>(offsets), at - begin, n);
    at += n;
    index[last] = 0;
    for (int d = last - 1; d >= 0; --d) {
      const bool carry = ++index[d] == sizes[d];
      for (int k = 0; k < operands; ++k) base[k] += carry ? -(sizes[d] - 1) * strides[k][d] : strides[k][d];
      if (!carry) break;
      index[d] = 0;
    }
  }
}

}  // namespace tandem::kernels::cpu
