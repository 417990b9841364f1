#include "parallel/gradient_buckets.h"

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/view.h"
#include "parallel/scaled_copy.h"

namespace tandem::parallel::detail {

std::vector<Bucket> make_buckets(std::vector<Parameter>& parameters, const std::vector<std::vector<size_t>>& plan, bool with_flags,
                                 const distributed::ProcessGroup& group, Site site) {
  const NoGradGuard no_grad;
  std::vector<Bucket> buckets;
  for (const std::vector<size_t>& members : plan) {
    int64_t count = 0;
    for (const size_t number : members) count += parameters[number].tensor.numel();
    const int64_t flags = with_flags ? static_cast<int64_t>(members.size()) : 0;
    const Tensor& first = parameters[members[0]].tensor;
    Bucket& bucket = buckets.emplace_back();
    bucket.members = members;
    bucket.flat = first.device().is_cpu() ? distributed::symmetric_zeros({count + flags}, first.dtype(), group, site)
                                          : zeros({count + flags}, {.dtype = first.dtype(), .device = first.device()}, site);
    bucket.gradients = bucket.flat.narrow(0, 0, count, site);
    if (with_flags) bucket.flags = bucket.flat.narrow(0, count, flags, site);
    int64_t offset = 0;
    for (size_t slot = 0; slot < members.size(); ++slot) {
      Parameter& parameter = parameters[members[slot]];
      const int64_t numel = parameter.tensor.numel();
      const Tensor view = bucket.flat.narrow(0, offset, numel, site).view(parameter.tensor.sizes(), site);
      offset += numel;
      if (const Tensor grad = parameter.tensor.grad(); grad.defined() && parameter.view.defined() && grad.is_same(parameter.view)) {
        view.copy_(grad, false, site);
        parameter.tensor.grad() = view;
      }
      parameter.view = view;
      parameter.bucket = buckets.size() - 1;
      parameter.slot = slot;
    }
  }
  return buckets;
}

void put_into_bucket(Parameter& parameter, double scale, bool as_view, Site site) {
  const NoGradGuard no_grad;
  Tensor& grad = parameter.tensor.grad();
  parameter.without_grad = !grad.defined();
  if (parameter.without_grad) {
    parameter.view.zero_(site);
    return;
  }
  if (as_view && grad.requires_grad())
    fail("[DistributedDataParallel] the gradient of '", parameter.name,
         "' has a history: create_graph and gradients that are averaged do not go together. Use grad(), which averages nothing");
  if (grad.is_same(parameter.view)) {
    if (scale != 1) parameter.view.mul_(scale, site);
    return;
  }
  copy_scaled(parameter.view, grad, scale, site);
  if (as_view) grad = parameter.view;
}

}  // namespace tandem::parallel::detail
