// Pointwise operations computed in int64_t.
#include "kernels/cuda/pointwise.cuh"

namespace tandem::kernels::cuda {

void pointwise_integer(const Queue& queue, const Pointwise& call) { pointwise_in<int64_t>(queue, call); }

}  // namespace tandem::kernels::cuda
