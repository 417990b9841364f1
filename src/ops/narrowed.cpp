#include "ops/narrowed.h"

#include "ops/promotion.h"

namespace tandem::ops {
namespace {

Scalar narrow(int64_t number, DType dtype) {
  return visit(dtype, [&]<class T>(T) -> Scalar {
    if constexpr (std::is_integral_v<T>) return static_cast<int64_t>(static_cast<T>(number));
    else return number;
  });
}

}  // namespace

void Narrowed::convert(const PointwiseRow& row, size_t mask, DType common, Site site) {
  const std::span<const Operand* const> operands = operands_;
  for (size_t i = mask; i < operands.size(); ++i) {
    if (row.bounds && !operands[i]->is_tensor()) continue;
    if (dtype_of(*operands[i]) == common || (operands[i]->is_tensor() && operands[i]->tensor().dim() > 0)) continue;
    if (pointers_.empty()) {
      pointers_.assign(operands.begin(), operands.end());
      held_.reserve(operands.size());
      tensors_.reserve(operands.size());
    }
    if (operands[i]->is_tensor()) held_.emplace_back(tensors_.emplace_back(operands[i]->tensor().to(common, {}, site)));
    else held_.emplace_back(narrow(operands[i]->number().to<int64_t>(), common));
    pointers_[i] = &held_.back();
  }
  if (!pointers_.empty()) operands_ = pointers_;
}

}  // namespace tandem::ops
