// A gradient into its place in flat memory, by one kernel. For the library.
#pragma once

#include "tensor/tensor.h"

namespace tandem::parallel::detail {

/// Writes `from` times `scale` into `to`, which has its sizes and dtype. Records nothing.
void copy_scaled(const Tensor& to, const Tensor& from, double scale, Site site);

}  // namespace tandem::parallel::detail
