// Filling with one number. A thread writes elements a grid apart; strided outputs find each element's place by its number.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/table.h"

namespace tandem::kernels::cuda {
namespace {

__global__ void fill_elements(Out out, Value value, int64_t count) {
  const int64_t* const strides[1] = {out.strides};
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    int64_t at[1];
    offsets_of(i, out.ndim, out.sizes, strides, at);
    if (value.is_floating) store(out.data, out.dtype, at[0], value.floating);
    else store(out.data, out.dtype, at[0], value.integer);
  }
}

}  // namespace

void fill(const Queue& queue, Out out, Value value) {
  const int64_t count = out.numel();
  if (count == 0) return;
  fill_elements<<<blocks_for(count), kThreads, 0, stream_of(queue)>>>(out, value, count);
  check_launch(queue);
}

}  // namespace tandem::kernels::cuda
