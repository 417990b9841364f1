#include "libtorch/parallel.h"

#include <utility>

namespace torch::autograd {

Scatter::Scatter(std::vector<tandem::Device> devices, int64_t dim) : devices_(std::move(devices)), dim_(dim) {}

std::vector<tandem::Tensor> Scatter::apply(const std::vector<tandem::Tensor>& inputs, tandem::Site site) const {
  if (inputs.size() != 1) tandem::fail<tandem::ValueError>("[Scatter.apply] one tensor is scattered, not ", inputs.size());
  return tandem::parallel::scatter(inputs[0], devices_, dim_, site);
}

std::vector<tandem::Tensor> Gather::apply(const std::vector<tandem::Tensor>& inputs, tandem::Site site) const {
  return {tandem::parallel::gather(inputs, destination_, dim_, site)};
}

}  // namespace torch::autograd

namespace torch::nn::parallel::detail {

void connect(const Module& original, const Module& replica, tandem::Site site) {
  auto copies = replica.named_parameters();
  for (const auto& parameter : original.named_parameters()) {
    if (!parameter->requires_grad(site)) continue;
    const tandem::Tensor& copy = copies[parameter.key()];
    copy.detach_(site).requires_grad_(false, site);
    copy.copy_(parameter.value(), false, site);
  }
}

}  // namespace torch::nn::parallel::detail
