#include "ops/promotion.h"

#include "base/error.h"

namespace tandem::ops {
namespace {

DType combine(DType higher, bool has_higher, DType lower, bool has_lower) {
  if (!has_higher) return lower;
  if (!has_lower || is_floating(higher)) return higher;
  if (higher == kBool || is_floating(lower)) return promote_types(higher, lower);
  return higher;
}

}  // namespace

DType result_type(std::span<const Operand* const> operands) {
  DType dims = kBool, zeros = kBool, numbers = kBool;
  bool has_dims = false, has_zeros = false, has_numbers = false;
  const auto add = [](DType& to, bool& has, DType dtype) {
    to = has ? promote_types(to, dtype) : dtype;
    has = true;
  };
  for (const Operand* operand : operands) {
    if (!operand->is_tensor()) add(numbers, has_numbers, operand->number().dtype());
    else if (operand->tensor().dim() > 0) add(dims, has_dims, operand->tensor().dtype());
    else add(zeros, has_zeros, operand->tensor().dtype());
  }
  const DType low = combine(zeros, has_zeros, numbers, has_numbers);
  return combine(dims, has_dims, low, has_zeros || has_numbers);
}

void fail_type(const PointwiseRow& row, DType common) {
  switch (row.rule) {
    case Rule::NoBool:
      fail<NotImplementedError>("[", row.name,
                                "] is not defined for bool tensors; use logical_not, logical_xor or ^, or convert with to(kInt64)");
    case Rule::Floating:
      fail<NotImplementedError>("[", row.name, "] is not implemented for '", scalar_name(common), "'; convert with to(kFloat32)");
    case Rule::Shift:
      if (common == kBool) fail<NotImplementedError>("[", row.name, "] is not implemented for 'Bool'; convert with to(kInt64)");
      [[fallthrough]];
    default:
      fail<NotImplementedError>("[", row.name, "] is defined for integers and bool only, not for ", common, "; convert with to(kInt64)");
  }
}

void check_operands(const PointwiseRow& row, std::span<const Operand* const> operands) {
  if (row.rule == Rule::Floating) {  // numbers don't make integers floating
    const Operand* whole = nullptr;
    bool floating = false;
    for (const Operand* operand : operands) {
      if (!operand->is_tensor()) continue;
      if (is_floating(operand->tensor().dtype())) floating = true;
      else whole = operand;
    }
    if (whole && !floating) fail_type(row, whole->tensor().dtype());
  }
  if (row.check) row.check(operands);
}

}  // namespace tandem::ops
