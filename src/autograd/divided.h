// Leaves whose gradients are divided among ranks: `.grad` is this rank's part.
#pragma once

#include <memory>

#include "tensor/tensor.h"

namespace tandem::autograd {

/// How a leaf's gradient is divided, and among whom.
class DividedGradient {
 public:
  DividedGradient() = default;
  virtual ~DividedGradient() = default;
  DividedGradient(const DividedGradient&) = delete;
  DividedGradient& operator=(const DividedGradient&) = delete;

  /// Whether it takes what a backward would add to the leaf's `.grad`: a gradient of all its elements.
  virtual bool take(const Tensor& leaf, const Tensor& gradient) = 0;
  /// Every rank's `t`, stacked. Every rank calls it.
  [[nodiscard]] virtual Tensor gather(const Tensor& t, Site site) const = 0;
  /// The same for all that are divided among the same ranks.
  [[nodiscard]] virtual const void* ranks() const = 0;
};

/// Says that the leaf's gradient is divided; nullptr: not any more.
void set_divided_gradient(const Tensor& leaf, std::shared_ptr<DividedGradient> divided);
/// nullptr where it is not.
[[nodiscard]] const DividedGradient* divided_gradient(const Tensor& leaf);

}  // namespace tandem::autograd
