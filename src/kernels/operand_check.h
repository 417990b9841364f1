// What a pointwise operation finds wrong with its operands, and reports.
#pragma once

#include "kernels/pointwise_call.h"

namespace tandem::kernels {

enum class OperandCheck : uint8_t {
  None,
  Divisor,        // the second, an integer, is 0
  Probabilities,  // one of the first two lies outside [0, 1]
};
constexpr OperandCheck check_of(PointwiseOp op, DType compute) {
  if (op == PointwiseOp::binary_cross_entropy) return OperandCheck::Probabilities;
  return divides(op) && compute == DType::Int64 ? OperandCheck::Divisor : OperandCheck::None;
}

}  // namespace tandem::kernels
