// What a backward function needs of an operand, which is a tensor or a number: to know whether it wants a gradient, its value later, and
// the gradient in its sizes and type.
#pragma once

#include "autograd/history.h"
#include "tensor/tensor.h"

namespace tandem::ops {

inline bool wants_grad(const Operand& operand) { return operand.is_tensor() && autograd::needs_grad(operand.tensor()); }
/// The operand where it is a tensor, else an undefined one: as an input of `record`.
inline Tensor tensor_of(const Operand& operand) { return operand.is_tensor() ? operand.tensor() : Tensor(); }

/// The same tensor or number, whose memory the result is not to take where `lasts`: as of whatever backward keeps.
inline Operand lasting(const Operand& operand, bool lasts = true) {
  return lasts && operand.is_tensor() ? Operand(operand.tensor(), operand.site()) : operand;
}

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
class GradientFit {
 public:
  explicit GradientFit(const Operand& operand);
  [[nodiscard]] Tensor operator()(const Tensor& g) const;

 private:
  Shape sizes_;
  DType dtype_ = kFloat32;
};

}  // namespace tandem::ops
