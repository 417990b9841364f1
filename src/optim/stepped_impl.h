// The body of Stepped, for the optimizers' own sources.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>

#include "autograd/autograd.h"
#include "kernels/optimizer_steps.h"
#include "ops/creation.h"
#include "optim/captured.h"
#include "optim/fused.h"
#include "optim/stepped.h"

namespace tandem::optim::detail {

template <class OptionsT, class StateT>
Stepped<OptionsT, StateT>::Stepped(const char* name, std::vector<Tensor> params, const OptionsT& options)
    : OptimizerOf<OptionsT, StateT>(name, std::move(params), options), fused_(std::make_unique<FusedStep<kernels::StepParameter>>()) {}
template <class OptionsT, class StateT>
Stepped<OptionsT, StateT>::~Stepped() = default;

/// Error where the step after this one would be given other numbers: a graph repeats those of now.
template <class StateT, class Group>
void check_same_next(const char* op, StateT state, const Group& group, const kernels::StepParameter& item) {
  kernels::StepParameter later = item;
  state.advance(group, later);
  if (later.keep != item.keep || !std::equal(std::begin(item.numbers), std::end(item.numbers), std::begin(later.numbers)))
    fail("[", op, "] cannot be captured in a graph: its factors change with every step. Capture forward and backward, and step after ",
         "each replay; or use SGD, Adam or AdamW");
}

/// Fills in what the options of all optimizers say alike.
template <class Group>
void take_options(const Group& group, kernels::StepParameter& item) {
  item.sign = group.maximize ? -1 : 1;
  if constexpr (requires { group.decoupled_weight_decay; }) {
    if (group.decoupled_weight_decay) {
      item.keep = 1 - group.lr * group.weight_decay;
      return;
    }
  }
  if constexpr (requires { group.weight_decay; }) item.weight_decay = group.weight_decay;
}

template <class OptionsT, class StateT>
void Stepped<OptionsT, StateT>::step(Site site) {
  const char* op = this->name();
  const NoGradGuard no_grad;
  fused_->clear();              // where the last step threw
  auto states = this->states_;  // kept only in the end: a step that ran out of memory can be taken again
  for (size_t g = 0; g < this->groups_.size(); ++g) {
    const auto& group = this->groups_[g];
    std::vector<StateT>& next = states[g];
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
      take_options(group, item);
      size_t part = 0;
      bool captured = false;
      for (const auto& [tensor, start] : next[i].parts(group)) {
        if (tensor) {
          captured |= is_captured(op, parameter->device, *tensor);
          if (!tensor->defined()) *tensor = full(parameter->sizes, start, {.dtype = parameter->dtype, .device = parameter->device}, site);
          else follow(*tensor, *parameter, site);
          item.state[part] = tensor->impl().data;
        }
        ++part;
      }
      const StateT before = next[i];
      next[i].advance(group, item);
      fused_->list_of(g, parameter->device).push_back(item);
      if (!captured) continue;
      // Nothing is done now: the replays count.
      check_same_next(op, next[i], group, item);
      next[i] = before;
      this->count_in_replays(parameter->device, [this, g, i](int64_t) {
        kernels::StepParameter unused{};
        this->states_[g][i].advance(this->groups_[g], unused);
      });
    }
  }
  fused_->run(
      [&](size_t g, Device device, kernels::Span<kernels::StepParameter> items) {
        check_kernel(ops::kernels_of(device).optimizer_step, op, device);
        ops::launch(device, op, site, &kernels::Table::optimizer_step, StateT::kind(this->groups_[g]), items);
      },
      site);
  this->states_ = std::move(states);
}

}  // namespace tandem::optim::detail
