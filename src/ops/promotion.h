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
/// For operands that meet in `common`; error for a type that the operation does not take.
Types types_of(const PointwiseRow& row, DType common);

/// What some operations refuse that their types alone don't show.
void check_operands(const PointwiseRow& row, std::span<const Operand* const> operands, DType common);
/// Error where either is bool: subtraction is not defined for it.
void refuse_bools(const Operand& a, const Operand& b);

}  // namespace tandem::ops
