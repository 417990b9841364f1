// The body of Stepped, for the optimizers' own sources.
#pragma once

#include "autograd/autograd.h"
#include "kernels/optimizer_steps.h"
#include "ops/creation.h"
#include "optim/fused.h"
#include "optim/stepped.h"

namespace tandem::optim::detail {

template <class OptionsT, class StateT>
Stepped<OptionsT, StateT>::Stepped(const char* name, std::vector<Tensor> params, const OptionsT& options)
    : OptimizerOf<OptionsT, StateT>(name, std::move(params), options), fused_(std::make_unique<FusedStep<kernels::StepParameter>>()) {}
template <class OptionsT, class StateT>
Stepped<OptionsT, StateT>::~Stepped() = default;

template <class OptionsT, class StateT>
void Stepped<OptionsT, StateT>::step(Site site) {
  const char* op = this->name();
  const NoGradGuard no_grad;
  fused_->clear();  // where the last step threw
  for (size_t g = 0; g < this->groups_.size(); ++g) {
    const auto& group = this->groups_[g];
    std::vector<StateT> next = this->states_[g];  // kept only when all memory is there: a step that ran out of it can be taken again
    for (size_t i = 0; i < group.params.size(); ++i) {
      const Ready ready = fused_->ready(group.params[i], op, site);
      const TensorImpl* parameter = ready.parameter;
      if (!parameter) continue;
      kernels::StepParameter item{.parameter = parameter->data,
                                  .gradient = ready.gradient->data,
                                  .state = {},
                                  .numel = parameter->numel,
                                  .dtype = parameter->dtype,
                                  .keep = 1,
                                  .weight_decay = 0,
                                  .sign = 1,
                                  .numbers = {}};
      size_t part = 0;
      for (const auto& [tensor, start] : next[i].parts(group)) {
        if (tensor) {
          if (!tensor->defined()) *tensor = full(parameter->sizes, start, {.dtype = parameter->dtype, .device = parameter->device}, site);
          else follow(*tensor, *parameter, site);
          item.state[part] = tensor->impl().data;
        }
        ++part;
      }
      next[i].advance(group, item);
      fused_->list_of(parameter->device).push_back(item);
    }
    this->states_[g] = std::move(next);
    fused_->run(
        [&](const kernels::Table& table, Device device, kernels::Span<kernels::StepParameter> items) {
          check_kernel(table.optimizer_step, op, device);
          table.optimizer_step(runtime::Launch(device, op, site), StateT::kind(group), items);
        },
        site);
  }
}

}  // namespace tandem::optim::detail
