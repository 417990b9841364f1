// Operands as a narrow integer type computes them.
#pragma once

#include <span>
#include <vector>

#include "ops/pointwise_row.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// The operands as a narrow integer type computes them: numbers, and tensors without dimensions, that did not decide it are converted
/// first.
class Narrowed {
 public:
  /// The first `mask` operands stay as they are. `common` and `compute` are what types_of says.
  Narrowed(const PointwiseRow& row, std::span<const Operand* const> operands, size_t mask, DType common, DType compute, Site site)
      : operands_(operands) {
    if (!is_floating(compute) && common != kInt64 && common != kBool) convert(row, mask, common, site);
  }
  operator std::span<const Operand* const>() const { return operands_; }  // NOLINT: it stands for the operands

 private:
  void convert(const PointwiseRow& row, size_t mask, DType common, Site site);

  std::span<const Operand* const> operands_;
  std::vector<const Operand*> pointers_;
  std::vector<Operand> held_;
  std::vector<Tensor> tensors_;
};

}  // namespace tandem::ops
