#include "nn/clone.h"

#include <unordered_map>

#include "autograd/autograd.h"
#include "nn/flat_parameters.h"
#include "nn/walk.h"

namespace tandem::nn {

void detail::own_tensors(const ModuleBase& original, ModuleBase& copy, Site site) {
  const NoGradGuard no_grad;
  std::unordered_map<const TensorImpl*, Tensor> own;
  MovedNetworks networks;
  walk_copy("clone", original, copy, [&](const Field& from, const Field& to) {
    if (!from.tensor || !from.tensor->defined()) return;
    Tensor& mine = own[&from.tensor->impl()];
    if (!mine.defined()) {
      mine = from.tensor->detach().clone(site);
      if (from.tensor->requires_grad()) mine.requires_grad_();
    }
    *to.tensor = mine;
    networks.add(to);
  });
  networks.flatten(site);
}

}  // namespace tandem::nn
