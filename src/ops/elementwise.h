// What every pointwise operation does: result type, device and sizes of its operands, memory for the result, one kernel call. For the
// library.
#pragma once

#include <span>

#include "autograd/history.h"
#include "ops/autocasting.h"
#include "ops/pointwise_row.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// f over broadcast operands, as a new tensor, or in the memory of a temporary operand that nothing else holds. The first `mask` operands
/// do not take part in the result type (the condition of `where`).
Tensor pointwise(const PointwiseRow& row, std::span<const Operand* const> operands, Site site, size_t mask = 0);
/// f written into `target`, whose type and sizes must be able to hold the result.
void pointwise_into(const PointwiseRow& row, const Tensor& target, std::span<const Operand* const> operands, Site site);

/// `pointwise` of a kernel that has no function of its own; its caller records.
Tensor call(kernels::PointwiseOp op, const char* name, Rule rule, std::initializer_list<const Operand*> operands, Site site,
            size_t mask = 0);

/// `result` written into `x`, which must have its sizes and a type that can hold it.
const Tensor& replace(const char* op, const Tensor& x, const Tensor& result, Site site);
/// x = f(x), for in-place forms of composed operations. Where f's history needs x as it was, it gets a copy.
template <class F>
const Tensor& in_place(const char* op, const Tensor& x, Site site, F f) {
  autograd::check_in_place(op, x);
  const AutocastScope none;
  return replace(op, x, f(autograd::needs_grad(x) ? x.clone(site) : x), site);
}

}  // namespace tandem::ops
