// What padding puts where: the same in every backend.
#pragma once

#include <algorithm>

#include "kernels/math.h"
#include "kernels/table.h"

namespace tandem::kernels {

/// Where an element of the padded dimension comes from, -1 for nowhere.
TD_HOST_DEVICE inline int64_t padding_source(int64_t i, int64_t before, int64_t size, int64_t padded, Padding mode) {
  const int64_t at = i - before;
  switch (mode) {
    case Padding::Constant: return at >= 0 && at < size ? at : -1;
    case Padding::Reflect: return at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
    case Padding::Replicate: return std::clamp<int64_t>(at, 0, size - 1);
    default: {  // Circular: only the elements that are not cut off go round
      const int64_t first = std::max<int64_t>(0, -before), last = size - std::max<int64_t>(0, before + size - padded);
      return at < first ? at + (last - first) : at >= last ? at - (last - first) : at;
    }
  }
}

}  // namespace tandem::kernels
