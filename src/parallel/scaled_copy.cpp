#include "parallel/scaled_copy.h"

#include "autograd/autograd.h"
#include "ops/elementwise.h"

namespace tandem::parallel::detail {

void copy_scaled(const Tensor& to, const Tensor& from, double scale, Site site) {
  const NoGradGuard no_grad;
  if (scale == 1) {
    to.copy_(from, false, site);
    return;
  }
  const Operand values(from, site), factor(scale, site);
  const Operand* const operands[] = {&values, &factor};
  ops::pointwise_into({.op = kernels::PointwiseOp::mul, .name = "mul", .rule = ops::Rule::Same}, to, operands, site);
}

}  // namespace tandem::parallel::detail
