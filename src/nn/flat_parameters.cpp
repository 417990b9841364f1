#include "nn/flat_parameters.h"

#include "autograd/autograd.h"
#include "nn/recurrent.h"
#include "ops/creation.h"
#include "tensor/part.h"
#include "tensor/tensor_impl.h"

namespace tandem::nn::detail {

void flatten_parameters(RecurrentBase& network, Site site) {
  const NoGradGuard no_grad;
  const std::vector<Tensor>& weights = network.weights;
  const Tensor& first = weights[0];
  if (network.proj_size || !first.defined() || !first.is_cuda()) return;
  Met met;
  int64_t total = 0;
  for (const Tensor& weight : weights) {
    if (!weight.defined() || weight.device() != first.device() || weight.dtype() != first.dtype() || !met.add(weight)) return;
    total += weight.numel();
  }
  const Tensor all = empty({total}, {.dtype = first.dtype(), .device = first.device()}, site);
  int64_t offset = 0;
  for (const int64_t dims : {2, 1}) {  // first all matrices, then all biases
    for (const Tensor& weight : weights) {
      if (weight.dim() != dims) continue;
      const Tensor place = tandem::detail::part_of(all, offset, weight.sizes());
      place.copy_(weight.detach(), false, site);
      weight.impl().replace_storage(place.impl());
      offset += weight.numel();
    }
  }
}

void MovedNetworks::add(const Field& field) {
  auto* const network = field.is_parameter() ? dynamic_cast<RecurrentBase*>(field.module) : nullptr;
  if (network && (networks_.empty() || networks_.back() != network)) networks_.push_back(network);
}

void MovedNetworks::flatten(Site site) const {
  for (RecurrentBase* const network : networks_) flatten_parameters(*network, site);
}

}  // namespace tandem::nn::detail
