// A launch that CUDA refused, as the queue's trouble.
#pragma once

#include <cuda_runtime.h>

#include "base/queue.h"

namespace tandem::runtime::cuda_gpu {

/// Reports what a launch returned, where that is an error.
inline void report_launch(const Queue& queue, cudaError_t code) {
  static constexpr char kNoCode[] =
      "CUDA did not start its kernel: the plug-in has no code for this GPU; build it with the GPU's architecture in "
      "CMAKE_CUDA_ARCHITECTURES";
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorUnsupportedPtxVersion)
    queue.status->report(Trouble::Library, static_cast<int64_t>(reinterpret_cast<intptr_t>(kNoCode)), 2);
  else if (code != cudaSuccess) queue.status->report(Trouble::Library, static_cast<int64_t>(code), 1);
}

}  // namespace tandem::runtime::cuda_gpu
