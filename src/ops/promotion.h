// In which type operands meet, and which types an operation takes and gives.
#pragma once

#include <span>

#include "ops/pointwise_row.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// The dtype of a tensor, or of a number by its kind.
inline DType dtype_of(const Operand& operand) { return operand.is_tensor() ? operand.tensor().dtype() : operand.number().dtype(); }

/// The type in which the operands meet: tensors with dimensions decide before 0-dim ones, these before numbers. As torch.result_type.
DType result_type(std::span<const Operand* const> operands);

/// The type that operands are brought to, the one of the computation, and that of the result.
struct Types {
  DType common, compute, result;
};

/// The error of a type that the operation does not take.
[[noreturn]] void fail_type(const PointwiseRow& row, DType common);

/// For operands that meet in `common`.
inline Types types_of(const PointwiseRow& row, DType common) {
  switch (row.rule) {
    case Rule::Float:
      if (!is_floating(common)) common = get_default_dtype();
      break;
    case Rule::Compare:
    case Rule::Logical: return {common, compute_type(common), kBool};
    case Rule::NoBool:
      if (common == kBool) fail_type(row, common);
      break;
    case Rule::Widen:
      if (common == kBool) common = kInt64;
      break;
    case Rule::Floating:
      if (!is_floating(common)) fail_type(row, common);
      break;
    case Rule::Shift:
      if (common == kBool) fail_type(row, common);
      [[fallthrough]];
    case Rule::Integer:
      if (is_floating(common)) fail_type(row, common);
      break;
    case Rule::Same: break;
  }
  return {common, compute_type(common), common};
}

/// Error for operands that the operation does not take although their common type is one that it takes.
void check_operands(const PointwiseRow& row, std::span<const Operand* const> operands);

}  // namespace tandem::ops
