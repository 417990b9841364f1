#include "nn/utils.h"

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/dense_parts.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/linalg/norms.h"
#include "ops/reduce.h"

namespace tandem::nn::utils {
namespace {

constexpr const char* kOp = "clip_grad_norm_";

Tensor norm_of(const std::vector<Tensor>& norms, double type, Site site) {
  return norms.size() == 1 ? norms[0] : norm(stack(norms, 0, site), type, site);
}

Tensor norm_of(const ops::DensePart& part, double type, Site site) {
  if (type != 2) {
    std::vector<Tensor> norms;
    for (const Tensor& gradient : part.dense) norms.push_back(norm(gradient.to(kFloat32, {}, site), type, site));
    return norm_of(norms, type, site);
  }
  Tensor result = empty({}, {.dtype = kFloat32, .device = part.device}, site);
  ops::launch(result, kOp, site, &kernels::Table::total_norm, result, part.span(),
              ops::kernels_of(result).total_norm_workspace(part.span()));
  return result;
}

/// On their first parameter's device.
Tensor norm_of(const ops::RanksGradients& gradients, double type, Site site) {
  if (gradients.parts.empty()) return zeros({}, {.dtype = kFloat32, .device = gradients.device}, site);
  std::vector<Tensor> norms;
  for (const ops::DensePart& part : gradients.parts) norms.push_back(norm_of(part, type, site).to(gradients.device, {}, site));
  return norm_of(norms, type, site);
}

}  // namespace

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type, Site site) {
  const NoGradGuard no_grad;
  const std::vector<ops::RanksGradients> all = ops::gradients_of(kOp, parameters, site);
  if (all.empty()) return zeros({}, {}, site);

  std::vector<Tensor> norms;
  for (const ops::RanksGradients& gradients : all) {
    const Tensor own = norm_of(gradients, norm_type, site);
    norms.push_back((gradients.divided ? norm(gradients.divided->gather(own, site), norm_type, site) : own).to(all[0].device, {}, site));
  }
  const Tensor total = norm_of(norms, norm_type, site);
  for (const ops::RanksGradients& gradients : all) {
    for (const ops::DensePart& part : gradients.parts) {
      const Tensor here = total.to(part.device, {}, site);
      ops::launch(here, kOp, site, &kernels::Table::clip, part.to_change(), here, max_norm);
      part.changed(site);
    }
  }
  return total;
}

}  // namespace tandem::nn::utils
