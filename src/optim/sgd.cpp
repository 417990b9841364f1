#include "optim/sgd.h"

#include "autograd/autograd.h"
#include "ops/creation.h"
#include "optim/captured.h"
#include "optim/fused.h"

namespace tandem::optim {

void SGDOptions::check() const {
  detail::check_not_negative("SGD", "learning rate", lr);
  detail::check_not_negative("SGD", "momentum value", momentum);
  detail::check_not_negative("SGD", "weight_decay value", weight_decay);
  if (nesterov && (momentum <= 0 || dampening != 0))
    fail("[SGD] Nesterov momentum requires a momentum and zero dampening, but they are ", momentum, " and ", dampening,
         ": set .momentum = 0.9, or leave nesterov out");
}

void SGDOptions::each(detail::Visitor& visitor) {
  detail::each_named(visitor, "lr", lr, "momentum", momentum, "dampening", dampening, "weight_decay", weight_decay, "nesterov", nesterov,
                     "maximize", maximize);
}

SGD::SGD(std::vector<Tensor> params, const SGDOptions& options, Site /*site*/)
    : OptimizerOf("SGD", std::move(params), options), fused_(std::make_unique<detail::FusedStep<kernels::SgdParameter>>()) {}
SGD::~SGD() = default;

void SGD::step(Site site) {
  const NoGradGuard no_grad;
  fused_->clear();                                // where the last step threw
  std::vector<std::pair<Tensor*, Tensor>> fresh;  // momentum buffers that the kernel is to fill
  for (size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    for (size_t i = 0; i < group.params.size(); ++i) {
      const detail::Ready ready = fused_->ready(group.params[i], "SGD", site);
      const TensorImpl* parameter = ready.parameter;
      if (!parameter) continue;
      kernels::SgdParameter item{parameter->data, ready.gradient->data, nullptr, parameter->numel, parameter->dtype, false};
      if (group.momentum != 0) {
        Tensor& buffer = states_[g][i].momentum_buffer;
        item.first = !buffer.defined();
        (void)detail::is_captured("SGD", parameter->device, buffer);
        if (item.first) {
          Tensor made = empty(parameter->sizes, {.dtype = parameter->dtype, .device = parameter->device}, site);
          item.momentum = made.impl().data;
          fresh.emplace_back(&buffer, std::move(made));
        } else {
          detail::follow(buffer, *parameter, site);
          item.momentum = buffer.impl().data;
        }
      }
      fused_->list_of(g, parameter->device).push_back(item);
    }
  }
  fused_->run(
      [&](size_t g, Device device, kernels::Span<kernels::SgdParameter> items) {
        const Group& group = groups_[g];
        const kernels::SgdSettings settings{group.lr, group.momentum, group.dampening, group.weight_decay, group.nesterov, group.maximize};
        detail::check_kernel(ops::kernels_of(device).sgd, "SGD", device);
        ops::launch(device, "SGD", site, &kernels::Table::sgd, items, settings);
      },
      site);
  // Kept only now: a step that ran out of memory can be taken again.
  for (auto& [buffer, made] : fresh) *buffer = std::move(made);
}

}  // namespace tandem::optim
