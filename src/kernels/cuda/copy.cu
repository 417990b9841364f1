// Copying with conversion between any two dtypes and layouts. Integers go by way of int64 so that none is rounded, all else by way of
// double.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/table.h"

namespace tandem::kernels::cuda {
namespace {

template <class Through>
__global__ void copy_elements(Out out, View in, int64_t count) {
  const int64_t* const strides[2] = {out.strides, in.strides};
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    int64_t at[2];
    offsets_of(i, out.ndim, out.sizes, strides, at);
    store(out.data, out.dtype, at[0], load<Through>(in.data, in.dtype, at[1]));
  }
}

}  // namespace

void copy(const Queue& queue, Out out, View in) {
  const int64_t count = out.numel();
  if (count == 0) return;
  if (out.dtype == in.dtype && out.contiguous() && in.contiguous()) {
    const cudaError_t code =
        cudaMemcpyAsync(out.data, in.data, static_cast<size_t>(count) * size_of(out.dtype), cudaMemcpyDeviceToDevice, stream_of(queue));
    if (code != cudaSuccess) queue.status->report(Trouble::Library, static_cast<int64_t>(code));
    return;
  }
  if (is_floating(in.dtype)) copy_elements<double><<<blocks_for(count), kThreads, 0, stream_of(queue)>>>(out, in, count);
  else copy_elements<int64_t><<<blocks_for(count), kThreads, 0, stream_of(queue)>>>(out, in, count);
  check_launch(queue);
}

}  // namespace tandem::kernels::cuda
