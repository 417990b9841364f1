#include "comm/by_copies.h"

#include <algorithm>

#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/view.h"

namespace tandem::comm {

Tensor reduce_by_copies(const std::vector<Tensor>& tensors, Device device, ReduceOp op, Site site) {
  const DType dtype = tensors[0].dtype();
  const DType wide = is_half(dtype) ? kFloat32 : dtype;
  const auto here = [&](const Tensor& t) { return t.to(device, {}, site).to(wide, {}, site); };
  Tensor result = here(tensors[0]).clone(site);
  for (size_t i = 1; i < tensors.size(); ++i) {
    const Tensor next = here(tensors[i]);
    switch (op) {
      case ReduceOp::SUM:
      case ReduceOp::AVG: result = dtype == kBool ? logical_or(result, next, site) : add(result, next, site); break;
      case ReduceOp::PRODUCT: result = dtype == kBool ? logical_and(result, next, site) : mul(result, next, site); break;
      case ReduceOp::MIN: result = minimum(result, next, site); break;
      case ReduceOp::MAX: result = maximum(result, next, site); break;
    }
  }
  if (op == ReduceOp::AVG) result = div(result, static_cast<double>(tensors.size()), site);
  return result.to(dtype, {}, site);
}

void all_reduce_by_copies(const std::vector<Tensor>& tensors, ReduceOp op, Site site) {
  const auto n = static_cast<int64_t>(tensors.size());
  std::vector<Tensor> flat;
  for (const Tensor& t : tensors) flat.push_back(t.contiguous(site).view({-1}, site));
  const int64_t count = tensors[0].numel(), share = (count + n - 1) / n;
  std::vector<Tensor> reduced;
  for (int64_t i = 0; i < n && i * share < count; ++i) {
    std::vector<Tensor> parts;
    for (const Tensor& t : flat) parts.push_back(t.narrow(0, i * share, std::min(share, count - i * share), site));
    reduced.push_back(reduce_by_copies(parts, tensors[static_cast<size_t>(i)].device(), op, site));
  }
  for (size_t k = 0; k < tensors.size(); ++k) {
    for (size_t i = 0; i < reduced.size(); ++i)
      flat[k].narrow(0, static_cast<int64_t>(i) * share, reduced[i].numel(), site).copy_(reduced[i], false, site);
    if (!tensors[k].is_contiguous()) tensors[k].copy_(flat[k].view(tensors[k].sizes(), site), false, site);
  }
}

}  // namespace tandem::comm
