#include "nn/utils.h"

#include <algorithm>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/norms.h"
#include "ops/reduce.h"

namespace tandem::nn::utils {
namespace {

constexpr const char* kOp = "clip_grad_norm_";

// The gradients of one device, dense ones: a strided gradient is copied for the purpose, and written back.
struct Part {
  Device device;
  std::vector<kernels::View> views;
  std::vector<Tensor> dense;
  std::vector<std::pair<Tensor, Tensor>> strided;  // gradient, dense copy
  Tensor norm;                                     // one float32, without dimensions

  [[nodiscard]] kernels::Span<kernels::View> span() const { return {views.data(), static_cast<int64_t>(views.size())}; }
};

Part& part_of(std::vector<Part>& parts, Device device) {
  for (Part& part : parts)
    if (part.device == device) return part;
  return parts.emplace_back(Part{device, {}, {}, {}, {}});
}

Tensor norm_of(const Part& part, double type, Site site) {
  if (type != 2) {
    std::vector<Tensor> norms;
    for (const Tensor& gradient : part.dense) norms.push_back(norm(gradient.to(kFloat32, {}, site), type, site));
    return norms.size() == 1 ? norms[0] : norm(stack(norms, 0, site), type, site);
  }
  Tensor result = empty({}, {.dtype = kFloat32, .device = part.device}, site);
  ops::launch(result, kOp, site, &kernels::Table::total_norm, result, part.span(),
              ops::kernels_of(result).total_norm_workspace(part.span()));
  return result;
}

}  // namespace

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type, Site site) {
  const NoGradGuard no_grad;
  std::vector<Part> parts;
  for (const Tensor& parameter : parameters) {
    const Tensor& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (!gradient.is_floating_point()) fail("[", kOp, "] gradients must be floating-point numbers, not ", scalar_name(gradient.dtype()));
    Part& part = part_of(parts, gradient.device());
    const Tensor dense = gradient.contiguous(site);
    if (!dense.is_same(gradient)) part.strided.emplace_back(gradient, dense);
    part.views.push_back(ops::view(dense));
    part.dense.push_back(dense);
  }
  if (parts.empty()) return zeros({}, {}, site);

  for (Part& part : parts) part.norm = norm_of(part, norm_type, site);
  Tensor total = parts[0].norm;
  if (parts.size() > 1) {
    std::vector<Tensor> norms;
    for (const Part& part : parts) norms.push_back(part.norm.to(parts[0].device, {}, site));
    total = norm(stack(norms, 0, site), norm_type, site);
  }
  for (Part& part : parts) {
    const Tensor here = total.to(part.device, {}, site);
    ops::launch(here, kOp, site, &kernels::Table::clip, ops::in_place(part.span()), here, max_norm);
    for (const Tensor& gradient : part.dense) gradient.impl().storage->bump_version();
    for (const auto& [gradient, dense] : part.strided) gradient.copy_(dense, false, site);
  }
  return total;
}

}  // namespace tandem::nn::utils
