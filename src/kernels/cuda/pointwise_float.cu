// Pointwise operations computed in float.
#include "kernels/cuda/pointwise.cuh"

namespace tandem::kernels::cuda {

void pointwise_float(const Queue& queue, const Pointwise& call) { pointwise_in<float>(queue, call); }

}  // namespace tandem::kernels::cuda
