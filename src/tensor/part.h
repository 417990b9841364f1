// Several tensors in one piece of memory. For the library.
#pragma once

#include "tensor/tensor.h"

namespace tandem::detail {

/// The elements from `offset` on of the dense `flat`, which they keep, as a dense tensor with a storage, and so a version, of its own.
/// Nothing else may use them.
[[nodiscard]] Tensor part_of(const Tensor& flat, int64_t offset, const Shape& sizes);

}  // namespace tandem::detail
