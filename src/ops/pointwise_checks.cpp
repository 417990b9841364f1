#include "ops/pointwise_checks.h"

#include "base/error.h"
#include "ops/promotion.h"

namespace tandem::ops {

void refuse_negative_of_bool(std::span<const Operand* const> operands) {
  if (dtype_of(*operands[0]) == kBool)
    fail<NotImplementedError>(
        "[neg] Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
        "use the `~` or `logical_not()` operator instead.");
}

void refuse_bools(std::span<const Operand* const> operands) {
  const bool first = dtype_of(*operands[0]) == kBool, second = dtype_of(*operands[1]) == kBool;
  if (first && second)
    fail<NotImplementedError>(
        "[sub] Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.");
  if (first || second)
    fail<NotImplementedError>(
        "[sub] Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
        "use the `~` or `logical_not()` operator instead.");
}

void refuse_negative_power(std::span<const Operand* const> operands) {
  if (operands[1]->is_tensor() || is_floating(result_type(operands))) return;
  const auto exponent = operands[1]->number().to<int64_t>();
  if (exponent < 0) fail("[pow] Integers to negative integer powers are not allowed, but got exponent ", exponent);
}

void refuse_mixed_dtypes(std::span<const Operand* const> operands) {
  if (!operands[0]->is_tensor() || !operands[1]->is_tensor()) return;
  const DType a = operands[0]->tensor().dtype(), b = operands[1]->tensor().dtype();
  if (a != b) fail("[heaviside] is not yet implemented for tensors with different dtypes: ", a, " and ", b);
}

}  // namespace tandem::ops
