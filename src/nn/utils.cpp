#include "nn/utils.h"

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/dense_parts.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/norms.h"
#include "ops/reduce.h"

namespace tandem::nn::utils {
namespace {

constexpr const char* kOp = "clip_grad_norm_";

Tensor norm_of(const ops::DensePart& part, double type, Site site) {
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
  std::vector<ops::DensePart> parts;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined()) ops::add_gradient(kOp, parts, parameter.grad(), site);
  if (parts.empty()) return zeros({}, {}, site);

  std::vector<Tensor> norms;
  for (const ops::DensePart& part : parts) norms.push_back(norm_of(part, norm_type, site).to(parts[0].device, {}, site));
  const Tensor total = parts.size() == 1 ? norms[0] : norm(stack(norms, 0, site), norm_type, site);
  for (const ops::DensePart& part : parts) {
    const Tensor here = total.to(part.device, {}, site);
    ops::launch(here, kOp, site, &kernels::Table::clip, ops::in_place(part.span()), here, max_norm);
    part.changed(site);
  }
  return total;
}

}  // namespace tandem::nn::utils
