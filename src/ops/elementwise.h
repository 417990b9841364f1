// What every pointwise operation does: result type, device and sizes of its operands, memory for the result, one kernel call. For the
// library.
#pragma once

#include <span>

#include "autograd/history.h"
#include "kernels/pointwise_call.h"
#include "ops/autocasting.h"
#include "tensor/tensor.h"

namespace tandem::ops {

using kernels::Rule;

/// A row of pointwise.def, at run time.
struct PointwiseRow {
  kernels::PointwiseOp op;
  const char* name;
  const char* grad_fn;         // with a number as second operand
  const char* grad_fn_tensor;  // with two tensors
  Rule rule;
  const CastRow* casts = nullptr;  // what autocast does with it
};

/// The type in which the operands meet: tensors with dimensions decide before 0-dim ones, these before numbers. As torch.result_type.
DType result_type(std::span<const Operand* const> operands);

/// f over broadcast operands, as a new tensor, or in the memory of a temporary operand that nothing else holds. The first `mask` operands
/// do not take part in the result type (the condition of `where`).
Tensor pointwise(const PointwiseRow& row, std::span<const Operand* const> operands, Site site, size_t mask = 0);
/// Error where either is bool: subtraction is not defined for it.
void refuse_bools(const Operand& a, const Operand& b);
/// f written into `target`, whose type and sizes must be able to hold the result.
void pointwise_into(const PointwiseRow& row, const Tensor& target, std::span<const Operand* const> operands, Site site);

/// `pointwise` of a kernel that has no function of its own; its caller records.
Tensor call(kernels::PointwiseOp op, const char* name, Rule rule, std::initializer_list<const Operand*> operands, Site site,
            size_t mask = 0);

inline bool wants_grad(const Operand& operand) { return operand.is_tensor() && autograd::needs_grad(operand.tensor()); }
/// The operand where it is a tensor, else an undefined one: as an input of `record`.
inline Tensor tensor_of(const Operand& operand) { return operand.is_tensor() ? operand.tensor() : Tensor(); }

/// The same tensor or number, whose memory is not to be reused.
inline Operand lasting(const Operand& operand) { return operand.is_tensor() ? Operand(operand.tensor(), operand.site()) : operand; }

/// An operand as a backward function keeps it: `const Tensor held = kept.get(); … kept.operand(held) …`.
class KeptOperand {
 public:
  explicit KeptOperand(const Operand& operand) : number_(operand.number()) {
    if (operand.is_tensor()) tensor_ = autograd::saved(operand.tensor());
  }
  /// The tensor; undefined for a number.
  [[nodiscard]] Tensor get() const { return tensor_.get(); }
  [[nodiscard]] Operand operand(const Tensor& held) const { return held.defined() ? Operand(held) : Operand(number_); }

 private:
  autograd::SavedTensor tensor_;
  Scalar number_;
};

/// Brings a gradient into the sizes and the type of the operand it belongs to.
class Fit {
 public:
  explicit Fit(const Operand& operand);
  [[nodiscard]] Tensor operator()(const Tensor& g) const;

 private:
  Shape sizes_;
  DType dtype_ = kFloat32;
};

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
