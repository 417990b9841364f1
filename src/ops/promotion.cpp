#include "ops/promotion.h"

#include "base/error.h"

namespace tandem::ops {
namespace {

constexpr DType compute_type(DType dtype) { return dtype == kFloat64 ? kFloat64 : is_floating(dtype) ? kFloat32 : kInt64; }

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

Types types_of(const PointwiseRow& row, DType common) {
  switch (row.rule) {
    case Rule::Float:
      if (!is_floating(common)) common = get_default_dtype();
      return {common, compute_type(common), common};
    case Rule::Compare:
    case Rule::Logical: return {common, compute_type(common), kBool};
    case Rule::NoBool:
      if (common == kBool && row.op == kernels::PointwiseOp::neg)
        fail<NotImplementedError>(
            "[neg] Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead.");
      if (common == kBool)
        fail<NotImplementedError>("[", row.name,
                                  "] is not defined for bool tensors; use logical_not, logical_xor or ^, or convert with to(kInt64)");
      break;
    case Rule::Widen:
      if (common == kBool) common = kInt64;
      break;
    case Rule::Floating:
      if (!is_floating(common))
        fail<NotImplementedError>("[", row.name, "] is not implemented for '", scalar_name(common), "'; convert with to(kFloat32)");
      break;
    case Rule::Shift:
      if (common == kBool) fail<NotImplementedError>("[", row.name, "] is not implemented for 'Bool'; convert with to(kInt64)");
      [[fallthrough]];
    case Rule::Integer:
      if (is_floating(common))
        fail<NotImplementedError>("[", row.name, "] is defined for integers and bool only, not for ", common, "; convert with to(kInt64)");
      break;
    case Rule::Same: break;
  }
  return {common, compute_type(common), common};
}

void check_operands(const PointwiseRow& row, std::span<const Operand* const> operands, DType common) {
  if (row.rule == Rule::Floating) {  // numbers don't make integers floating
    const Operand* whole = nullptr;
    bool floating = false;
    for (const Operand* operand : operands) {
      if (!operand->is_tensor()) continue;
      if (is_floating(operand->tensor().dtype())) floating = true;
      else whole = operand;
    }
    if (whole && !floating)
      fail<NotImplementedError>("[", row.name, "] is not implemented for '", scalar_name(whole->tensor().dtype()),
                                "'; convert with to(kFloat32)");
  }
  if (row.op == kernels::PointwiseOp::sub || row.op == kernels::PointwiseOp::rsub) refuse_bools(*operands[0], *operands[1]);
  if (row.op == kernels::PointwiseOp::pow && !is_floating(common) && !operands[1]->is_tensor() && operands[1]->number().to<int64_t>() < 0)
    fail("[pow] Integers to negative integer powers are not allowed, but got exponent ", operands[1]->number().to<int64_t>());
  if (row.op == kernels::PointwiseOp::heaviside && operands[0]->is_tensor() && operands[1]->is_tensor() &&
      operands[0]->tensor().dtype() != operands[1]->tensor().dtype())
    fail("[heaviside] is not yet implemented for tensors with different dtypes: ", operands[0]->tensor().dtype(), " and ",
         operands[1]->tensor().dtype());
}

void refuse_bools(const Operand& a, const Operand& b) {
  const bool first = dtype_of(a) == kBool, second = dtype_of(b) == kBool;
  if (first && second)
    fail<NotImplementedError>(
        "[sub] Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.");
  if (first || second)
    fail<NotImplementedError>(
        "[sub] Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
        "use the `~` or `logical_not()` operator instead.");
}

}  // namespace tandem::ops
