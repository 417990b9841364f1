#include "optim/adam.h"

#include <type_traits>

#include "autograd/autograd.h"
#include "ops/creation.h"
#include "optim/captured.h"
#include "optim/fused.h"

namespace tandem::optim {
namespace {

template <class Options>
void each_option(Options& o, detail::Visitor& visitor) {
  detail::each_named(visitor, "lr", o.lr, "betas", o.betas, "eps", o.eps, "weight_decay", o.weight_decay, "amsgrad", o.amsgrad, "maximize",
                     o.maximize);
}

}  // namespace

void AdamOptions::check() const { detail::check_adam_options("Adam", *this); }
void AdamOptions::each(detail::Visitor& visitor) { each_option(*this, visitor); }
void AdamWOptions::check() const { detail::check_adam_options("AdamW", *this); }
void AdamWOptions::each(detail::Visitor& visitor) { each_option(*this, visitor); }

namespace detail {

template <class OptionsT>
AdamFamily<OptionsT>::AdamFamily(const char* name, std::vector<Tensor> params, const OptionsT& options)
    : OptimizerOf<OptionsT, AdamState>(name, std::move(params), options), fused_(std::make_unique<FusedStep<kernels::AdamParameter>>()) {}
template <class OptionsT>
AdamFamily<OptionsT>::~AdamFamily() = default;

namespace {
/// A parameter whose step is kept for a graph, and how many it had taken.
struct Captured {
  Device device;
  size_t group, parameter;
  int64_t step;
};
}  // namespace

template <class OptionsT>
void AdamFamily<OptionsT>::step(Site site) {
  constexpr bool decoupled = std::is_same_v<OptionsT, AdamWOptions>;
  const char* op = this->name();
  const NoGradGuard no_grad;
  fused_->clear();  // where the last step threw
  std::vector<Captured> captured;
  for (size_t g = 0; g < this->groups_.size(); ++g) {
    const auto& group = this->groups_[g];
    for (size_t i = 0; i < group.params.size(); ++i) {
      const Ready ready = fused_->ready(group.params[i], op, site);
      const TensorImpl* parameter = ready.parameter;
      if (!parameter) continue;
      AdamState& state = this->states_[g][i];
      if (is_captured(op, parameter->device, state.exp_avg)) captured.push_back({parameter->device, g, i, state.step});
      const tandem::Options made{.dtype = parameter->dtype, .device = parameter->device};
      const auto place = [&](Tensor& part) {
        if (!part.defined()) part = zeros(parameter->sizes, made, site);
        else follow(part, *parameter, site);
      };
      place(state.exp_avg);
      place(state.exp_avg_sq);
      if (group.amsgrad) place(state.max_exp_avg_sq);
      fused_->list_of(g, parameter->device)
          .push_back({parameter->data, ready.gradient->data, state.exp_avg.impl().data, state.exp_avg_sq.impl().data,
                      group.amsgrad ? state.max_exp_avg_sq.impl().data : nullptr, parameter->numel, parameter->dtype, state.step + 1});
    }
  }
  fused_->run(
      [&](size_t g, Device device, kernels::Span<kernels::AdamParameter> items) {
        const auto& group = this->groups_[g];
        const kernels::AdamSettings settings{group.lr,           group.betas.first, group.betas.second, group.eps,
                                             group.weight_decay, decoupled,         group.maximize};
        check_kernel(ops::kernels_of(device).adam, op, device);
        ops::launch(device, op, site, &kernels::Table::adam, items, settings);
      },
      site);
  // Counted only now: a step that ran out of memory can be taken again.
  for (size_t g = 0; g < this->groups_.size(); ++g) {
    const auto& params = this->groups_[g].params;
    for (size_t i = 0; i < params.size(); ++i) this->states_[g][i].step += params[i].grad().defined() ? 1 : 0;
  }
  for (const Captured& one : captured) {
    this->states_[one.group][one.parameter].step = one.step;
    this->count_in_replays(one.device, [this, op, one](int64_t before) {
      int64_t& step = this->states_[one.group][one.parameter].step;
      if (step != one.step + before) fail_stepped_outside(op, step, one.step + before);
      ++step;
    });
  }
}

template class AdamFamily<AdamOptions>;
template class AdamFamily<AdamWOptions>;

}  // namespace detail
}  // namespace tandem::optim
