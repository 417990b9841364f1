#include "ops/operand_gradient.h"

#include "ops/view.h"

namespace tandem::ops {

GradientFit::GradientFit(const Operand& operand) {
  if (!operand.is_tensor()) return;
  sizes_ = operand.tensor().sizes();
  dtype_ = operand.tensor().dtype();
}

Tensor GradientFit::operator()(const Tensor& g) const {
  const Tensor summed = sum_to_size(g, sizes_);
  return summed.dtype() == dtype_ ? summed : summed.to(dtype_);
}

}  // namespace tandem::ops
