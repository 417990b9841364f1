#include "ops/overlap.h"

#include "base/error.h"
#include "tensor/tensor_impl.h"

namespace tandem::ops {
namespace {

/// Whether the elements fill the memory between the first and the last.
bool is_dense(const Tensor& x) {
  int64_t reach = 1;
  for (size_t d = 0; d < x.sizes().size(); ++d) reach += (x.sizes()[d] - 1) * x.strides()[d];
  return reach == x.numel();
}

/// Whether element after element lies at the same place: dimensions of size 1 say nothing of that.
bool same_layout(const Tensor& a, const Tensor& b) {
  if (a.numel() != b.numel()) return false;
  size_t i = 0, k = 0;
  for (;; ++i, ++k) {
    while (i < a.sizes().size() && a.sizes()[i] == 1) ++i;
    while (k < b.sizes().size() && b.sizes()[k] == 1) ++k;
    if (i == a.sizes().size() || k == b.sizes().size()) return i == a.sizes().size() && k == b.sizes().size();
    if (a.sizes()[i] != b.sizes()[k] || a.strides()[i] != b.strides()[k]) return false;
  }
}

[[noreturn]] void fail_overlap(std::string_view op) {
  fail("[", op,
       "_] unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please "
       "clone() the tensor before performing the operation.");
}

}  // namespace

void refuse_shared_elements(std::string_view op, const Tensor& target) {
  for (size_t d = 0; target.numel() > 0 && d < target.sizes().size(); ++d)
    if (target.sizes()[d] > 1 && target.strides()[d] == 0)
      fail(
          "[", op,
          "_] unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the "
          "tensor before performing the operation.");
}

void refuse_partial_overlap(std::string_view op, const Tensor& target, const Tensor& source) {
  if (target.is_same(source) || target.impl().storage != source.impl().storage || target.numel() == 0 || source.numel() == 0) return;
  if (!is_dense(target) || !is_dense(source)) return;
  const auto begin = [](const Tensor& x) { return x.impl().offset * static_cast<int64_t>(size_of(x.dtype())); };
  const auto end = [&](const Tensor& x) { return begin(x) + x.numel() * static_cast<int64_t>(size_of(x.dtype())); };
  if (begin(target) == begin(source) && same_layout(target, source)) return;
  if (begin(target) >= end(source) || begin(source) >= end(target)) return;
  fail_overlap(op);
}

void refuse_overlap(std::string_view op, const Tensor& target, const Tensor& source) {
  refuse_partial_overlap(op, target, source);
  if (target.numel() > 0 && source.numel() > 0 && target.impl().storage == source.impl().storage &&
      target.impl().data == source.impl().data)
    fail_overlap(op);
}

}  // namespace tandem::ops
