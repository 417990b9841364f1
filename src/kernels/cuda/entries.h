// The CUDA kernels. Those of the .cu files right here are our own and go into a table by fill_own, those of vendor/ by fill_vendor.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels::cuda {

#include "kernels/entries.inc"

// A pointwise call in the type it computes in: pointwise_float.cu and its neighbours.
void pointwise_float(const Queue& queue, const Pointwise& call);
void pointwise_double(const Queue& queue, const Pointwise& call);
void pointwise_integer(const Queue& queue, const Pointwise& call);

/// Puts the kernels that are written here into `table`: on a GPU, or walked on the host.
void fill_own(Table& table);

}  // namespace tandem::kernels::cuda
