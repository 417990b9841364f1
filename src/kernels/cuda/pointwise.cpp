// A pointwise call goes to the kernels of the type it computes in.
#include "kernels/cuda/entries.h"
#include "kernels/pointwise_simplified.h"

namespace tandem::kernels::cuda {

void pointwise(const Queue& queue, Pointwise call) {
  if (call.numel == 0) return;
  call.op = simplified(call);
  switch (call.compute) {
    case DType::Float32: return pointwise_float(queue, call);
    case DType::Float64: return pointwise_double(queue, call);
    default: return pointwise_integer(queue, call);
  }
}

}  // namespace tandem::kernels::cuda
