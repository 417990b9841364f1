// Tells the kernels of a graph what this replay of it changes.
#pragma once

#include <cuda_runtime.h>

#include "base/queue.h"

namespace tandem::runtime::cuda_gpu {

/// Queues *to = values; `to` is memory of the stream's GPU, which is current.
cudaError_t write_replay(Replay* to, const Replay& values, cudaStream_t stream);

}  // namespace tandem::runtime::cuda_gpu
