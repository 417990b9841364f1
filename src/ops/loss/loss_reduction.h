// How losses of elements become one. For the library.
#pragma once

#include "ops/loss/loss.h"

namespace tandem::ops {

/// The losses, their mean or their sum.
Tensor reduced(const char* op, const Tensor& losses, Reduction reduction, Site site);
/// The sum of losses over the sum of their weights, or over the number of those that count where weights are bool; half types are rounded
/// once.
Tensor mean_by_weight(const Tensor& losses, const Tensor& weights, Site site);

}  // namespace tandem::ops
