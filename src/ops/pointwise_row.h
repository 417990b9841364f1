// A row of kernels/pointwise.def, at run time.
#pragma once

#include <span>

#include "kernels/pointwise_call.h"
#include "ops/autocasting.h"
#include "tensor/tensor.h"

namespace tandem::ops {

using kernels::Rule;

/// What the row of an operation says of it.
struct PointwiseRow {
  kernels::PointwiseOp op;
  const char* name;
  const char* grad_fn = "";         // with a number as second operand
  const char* grad_fn_tensor = "";  // with two tensors
  Rule rule;
  const CastRow* casts = nullptr;  // what autocast does with it

  // What few rows have, in their last column.
  void (*check)(std::span<const Operand* const> operands) = nullptr;  // throws what it refuses besides what its rule refuses
  CastName casts_number = static_cast<const CastRow*>(nullptr);       // what autocast does where the first operand is a number
  /// Its result by what backward already has of the operand, a temporary; undefined where that has nothing for it.
  Tensor (*by_history)(const PointwiseRow& row, std::span<const Operand* const> operands, Site site) = nullptr;
  bool bounds = false;  // numbers are bounds: one that no element can be bounds none
};

}  // namespace tandem::ops
