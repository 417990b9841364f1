// A row of kernels/pointwise.def, at run time.
#pragma once

#include "kernels/pointwise_call.h"
#include "ops/autocasting.h"

namespace tandem::ops {

using kernels::Rule;

/// What the row of an operation says of it.
struct PointwiseRow {
  kernels::PointwiseOp op;
  const char* name;
  const char* grad_fn;         // with a number as second operand
  const char* grad_fn_tensor;  // with two tensors
  Rule rule;
  const CastRow* casts = nullptr;  // what autocast does with it
};

}  // namespace tandem::ops
