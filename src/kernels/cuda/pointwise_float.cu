// Pointwise operations of one operand, computed in float; those of several are compiled beside them.
#include "kernels/cuda/pointwise.cuh"

namespace tandem::kernels::cuda {

void pointwise_float(const Queue& queue, const Pointwise& call) {
  if (!pointwise_in<float, 1, 1>(queue, call)) pointwise_float_several(queue, call);
}

}  // namespace tandem::kernels::cuda
