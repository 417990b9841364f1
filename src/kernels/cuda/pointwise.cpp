// A pointwise call goes to the kernels of the type it computes in.
#include "kernels/cuda/entries.h"
#include "kernels/pointwise_simplified.h"
#include "kernels/visit.h"

namespace tandem::kernels::cuda {

void pointwise(const Queue& queue, Pointwise call) {
  if (call.numel == 0) return;
  call.op = simplified(call);
  visit_compute(call.compute, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, float>) pointwise_float(queue, call);
    else if constexpr (std::is_same_v<T, double>) pointwise_double(queue, call);
    else pointwise_integer(queue, call);
  });
}

}  // namespace tandem::kernels::cuda
