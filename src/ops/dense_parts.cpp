#include "ops/dense_parts.h"

#include <algorithm>

#include "base/error.h"

namespace tandem::ops {

void DensePart::changed(Site site) const {
  for (const Tensor& gradient : dense) gradient.impl().storage->bump_version();
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

}  // namespace tandem::ops
