#include "ops/narrowed.h"

#include "ops/promotion.h"

namespace tandem::ops {
namespace {

Scalar narrow(int64_t number, DType dtype) {
  switch (size_of(dtype)) {
    case 1: return dtype == kUInt8 ? static_cast<int64_t>(static_cast<uint8_t>(number)) : static_cast<int64_t>(static_cast<int8_t>(number));
    case 2: return static_cast<int64_t>(static_cast<int16_t>(number));
    default: return static_cast<int64_t>(static_cast<int32_t>(number));
  }
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
