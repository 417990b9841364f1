// Dimension numbers: negative ones count from the end.
#pragma once

#include "base/error.h"
#include "base/shape.h"

namespace tandem {

/// `dim` as a number in [0, ndim). A 0-dim tensor is treated as having one. IndexError names the range.
inline int64_t wrap_dim(int64_t dim, int64_t ndim) {
  const int64_t n = ndim > 0 ? ndim : 1;
  if (dim < -n || dim >= n)
    fail<IndexError>("Dimension out of range (expected to be in range of [", -n, ", ", n - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + n : dim;
}

}  // namespace tandem
