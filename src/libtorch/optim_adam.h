// Adam and AdamW.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "libtorch/arg.h"
#include "libtorch/optim_fused.h"
#include "optim/adam.h"

namespace torch::optim {

namespace detail {

/// The options of Adam and of AdamW; what each starts from is `Native`'s, tandem's own.
template <class Native>
class AdamFamilyOptions : public NamedOptions<AdamFamilyOptions<Native>> {
 public:
  using betas_t = std::tuple<double, double>;
  AdamFamilyOptions(double lr = Native{}.lr) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(betas_t, betas) = betas_t(Native{}.betas);
  TORCH_ARG(double, eps) = Native{}.eps;
  TORCH_ARG(double, weight_decay) = Native{}.weight_decay;
  TORCH_ARG(bool, amsgrad) = false;

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("lr", self.lr_);
    f("betas", self.betas_);
    f("eps", self.eps_);
    f("weight_decay", self.weight_decay_);
    f("amsgrad", self.amsgrad_);
  }
};

/// What both keep of a parameter.
template <class Native>
class AdamFamilyState : public NamedState<AdamFamilyState<Native>> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(tandem::Tensor, exp_avg);
  TORCH_ARG(tandem::Tensor, exp_avg_sq);
  TORCH_ARG(tandem::Tensor, max_exp_avg_sq);

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("step", self.step_);
    f("exp_avg", self.exp_avg_);
    f("exp_avg_sq", self.exp_avg_sq_);
    f("max_exp_avg_sq", self.max_exp_avg_sq_);
  }
  static const char* old_name(std::string_view field) {
    if (field == "step") return "step_buffers";
    if (field == "exp_avg") return "exp_average_buffers";
    return field == "exp_avg_sq" ? "exp_average_sq_buffers" : "max_exp_average_sq_buffers";
  }
};

}  // namespace detail

using AdamOptions = detail::AdamFamilyOptions<tandem::optim::AdamOptions>;
using AdamParamState = detail::AdamFamilyState<tandem::optim::AdamOptions>;
using AdamWOptions = detail::AdamFamilyOptions<tandem::optim::AdamWOptions>;
using AdamWParamState = detail::AdamFamilyState<tandem::optim::AdamWOptions>;

/// Adam: `torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.5}))`.
class Adam : public detail::FusedOptimizer<tandem::optim::Adam, AdamOptions, AdamParamState> {
 public:
  using FusedOptimizer::FusedOptimizer;
};

/// Adam with the weight decay apart from the gradient.
class AdamW : public detail::FusedOptimizer<tandem::optim::AdamW, AdamWOptions, AdamWParamState> {
 public:
  using FusedOptimizer::FusedOptimizer;
};

namespace detail {
extern template class Named<AdamOptions, OptimizerCloneableOptions>;
extern template class Named<AdamParamState, OptimizerCloneableParamState>;
extern template class FusedOptimizer<tandem::optim::Adam, AdamOptions, AdamParamState>;
extern template class Named<AdamWOptions, OptimizerCloneableOptions>;
extern template class Named<AdamWParamState, OptimizerCloneableParamState>;
extern template class FusedOptimizer<tandem::optim::AdamW, AdamWOptions, AdamWParamState>;
}  // namespace detail

}  // namespace torch::optim
