// What rows of kernels/pointwise.def refuse besides what their rule refuses.
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace tandem::ops {

/// A negative: not of bool.
void refuse_negative_of_bool(std::span<const Operand* const> operands);
/// A difference: none of the two is bool.
void refuse_bools(std::span<const Operand* const> operands);
/// A power: integers have none with a negative number.
void refuse_negative_power(std::span<const Operand* const> operands);
/// heaviside: two tensors are of one dtype.
void refuse_mixed_dtypes(std::span<const Operand* const> operands);

}  // namespace tandem::ops
