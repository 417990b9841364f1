// How losses of elements become one. For the library.
#pragma once

#include "ops/loss.h"

namespace tandem::ops {

/// The losses, their mean or their sum.
Tensor reduced(const char* op, const Tensor& losses, Reduction reduction, Site site);

}  // namespace tandem::ops
