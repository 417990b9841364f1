// What every pointwise operation does: result type, device and sizes of its operands, memory for the result, one kernel call. For the
// library.
#pragma once

#include <span>

#include "kernels/pointwise_call.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// Which types an operation takes and gives: see kernels/pointwise.def.
enum class Rule : uint8_t { Same, NoBool, Float, Integer, Compare, Logical };

/// A row of pointwise.def, at run time.
struct PointwiseRow {
  kernels::PointwiseOp op;
  const char* name;
  const char* grad_fn;         // with a number as second operand
  const char* grad_fn_tensor;  // with two tensors
  Rule rule;
};

/// The type in which the operands meet: tensors with dimensions decide before 0-dim ones, these before numbers. As torch.result_type.
DType result_type(std::span<const Operand* const> operands);

/// f over broadcast operands, as a new tensor, or in the memory of a temporary operand that nothing else holds.
Tensor pointwise(const PointwiseRow& row, std::span<const Operand* const> operands, Site site);
/// f written into `target`, whose type and sizes must be able to hold the result.
void pointwise_into(const PointwiseRow& row, const Tensor& target, std::span<const Operand* const> operands, Site site);

/// Without recording: for kernels that are called by hand. The first `mask` operands do not take part in the result type (the condition of
/// `where`).
Tensor call(kernels::PointwiseOp op, const char* name, Rule rule, std::initializer_list<const Operand*> operands, Site site,
            size_t mask = 0);
void call_into(kernels::PointwiseOp op, const char* name, Rule rule, const Tensor& target, std::initializer_list<const Operand*> operands,
               Site site, size_t mask = 0);

}  // namespace tandem::ops
