#include "ops/dense_parts.h"

#include <algorithm>

#include "base/error.h"

namespace tandem::ops {

std::vector<kernels::Change> DensePart::to_change() const {
  std::vector<kernels::Change> list;
  list.reserve(views.size());
  for (const kernels::View& each : views) list.push_back({each});
  return list;
}

void DensePart::changed(Site site) const {
  for (const Tensor& gradient : dense) gradient.impl().bump_version();
  for (const auto& [gradient, copy] : strided) gradient.copy_(copy, false, site);
}

void add_gradient(const char* op, std::vector<DensePart>& parts, const Tensor& gradient, Site site) {
  if (!gradient.is_floating_point()) fail("[", op, "] gradients must be floating-point numbers, not ", scalar_name(gradient.dtype()));
  auto part = std::find_if(parts.begin(), parts.end(), [&](const DensePart& each) { return each.device == gradient.device(); });
  if (part == parts.end()) part = parts.insert(part, DensePart{.device = gradient.device(), .views = {}, .dense = {}, .strided = {}});
  const Tensor dense = gradient.contiguous(site);
  if (!dense.is_same(gradient)) part->strided.emplace_back(gradient, dense);
  part->views.push_back(view(dense));
  part->dense.push_back(dense);
}

std::vector<RanksGradients> gradients_of(const char* op, const std::vector<Tensor>& parameters, Site site) {
  std::vector<RanksGradients> all;
  for (const Tensor& parameter : parameters) {
    const Tensor& gradient = parameter.grad();
    const autograd::DividedGradient* const divided = autograd::divided_gradient(parameter);
    if (!divided && !gradient.defined()) continue;
    auto here = std::find_if(all.begin(), all.end(), [&](const RanksGradients& each) {
      return !each.divided == !divided && (!divided || each.divided->ranks() == divided->ranks());
    });
    if (here == all.end())
      here = all.insert(here, RanksGradients{.divided = divided, .device = divided ? parameter.device() : gradient.device(), .parts = {}});
    if (!gradient.defined()) continue;
    here->any = true;
    if (!divided || gradient.numel() > 0) add_gradient(op, here->parts, gradient, site);
  }
  return all;
}

}  // namespace tandem::ops
