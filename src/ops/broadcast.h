// The sizes in which two meet.
#pragma once

#include <optional>

#include "base/shape.h"

namespace tandem::ops {

/// What two sizes broadcast to; where they do not, the last dimension, of the longer one, in which they differ.
struct Broadcast {
  Shape sizes;
  std::optional<size_t> differ;
};
[[nodiscard]] Broadcast broadcast(const Shape& a, const Shape& b);

}  // namespace tandem::ops
