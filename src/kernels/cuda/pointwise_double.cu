// Pointwise operations computed in double.
#include "kernels/cuda/pointwise.cuh"

namespace tandem::kernels::cuda {

void pointwise_double(const Queue& queue, const Pointwise& call) { pointwise_in<double>(queue, call); }

}  // namespace tandem::kernels::cuda
