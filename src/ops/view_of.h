// What every view is made by. For the library.
#pragma once

#include "tensor/tensor.h"

namespace tandem::ops {

/// A view of x with another layout, and without history yet. The layout has been checked.
Tensor view_of(const Tensor& x, Shape sizes, Shape strides, int64_t offset);

}  // namespace tandem::ops
