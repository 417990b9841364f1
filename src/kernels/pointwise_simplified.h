// The operation that a pointwise call really is, alike on every back end: PyTorch's powers with some exponents are other functions, which
// differ from pow at -0 and -inf, and ~ of a bool is not that of the integers it is computed in.
#pragma once

#include "kernels/pointwise_call.h"

namespace tandem::kernels {

inline PointwiseOp simplified(const Pointwise& call) {
  if (call.op == PointwiseOp::bitwise_not && call.out_dtype == DType::Bool) return PointwiseOp::logical_not;
  if (call.op != PointwiseOp::pow || call.in[1].data) return call.op;
  const double exponent = call.in[1].value.to<double>();
  if (exponent == 2) return PointwiseOp::square;
  if (exponent == 3) return PointwiseOp::cube;
  if (call.compute == DType::Int64) return call.op;
  if (exponent == 0.5) return PointwiseOp::sqrt;
  if (exponent == -1) return PointwiseOp::reciprocal;
  if (exponent == -0.5) return PointwiseOp::rsqrt;
  return call.op;
}

}  // namespace tandem::kernels
