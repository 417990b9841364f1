// The CUDA table: the entries that have a .cu file in this folder. All others are refused with a clear error.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels::cuda {

const Table& table();

void fill(const Queue& queue, Out out, Value value);
void copy(const Queue& queue, Out out, View in);
void pointwise(const Queue& queue, Pointwise call);
void pointwise_float(const Queue& queue, const Pointwise& call);
void pointwise_double(const Queue& queue, const Pointwise& call);
void pointwise_integer(const Queue& queue, const Pointwise& call);

}  // namespace tandem::kernels::cuda
