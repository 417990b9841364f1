// Pointwise operations of two operands and more, computed in float.
#include "kernels/cuda/pointwise.cuh"

namespace tandem::kernels::cuda {

void pointwise_float_several(const Queue& queue, const Pointwise& call) { pointwise_in<float, 2>(queue, call); }

}  // namespace tandem::kernels::cuda
