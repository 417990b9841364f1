// Looking up rows of a table is indexing its first dimension; adding gradients to them is accumulating there (index.cu).
#include "kernels/cuda/entries.h"
#include "kernels/cuda/indexing.cuh"

namespace tandem::kernels::cuda {

void embedding(const Queue& queue, Out out, View table, View indices) { index(queue, out, table, {&indices, 1}, false); }

void embedding_backward(const Queue& queue, Out out, View grad, View indices, int64_t padding) {
  fill(queue, out, Value{});
  accumulate(queue, out, grad, {&indices, 1}, false, padding);
}

}  // namespace tandem::kernels::cuda
