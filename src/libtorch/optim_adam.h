// Adam and AdamW.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "libtorch/arg.h"
#include "libtorch/optim_fused.h"
#include "optim/adam.h"

namespace torch::optim {

namespace detail {
template <class F, class Real, class Betas, class Flag>
void each_adam_option(F&& f, Real& lr, Betas& betas, Real& eps, Real& weight_decay, Flag& amsgrad) {
  f("lr", lr);
  f("betas", betas);
  f("eps", eps);
  f("weight_decay", weight_decay);
  f("amsgrad", amsgrad);
}
template <class F, class Count, class T>
void each_adam_state(F&& f, Count& step, T& exp_avg, T& exp_avg_sq, T& max_exp_avg_sq) {
  f("step", step);
  f("exp_avg", exp_avg);
  f("exp_avg_sq", exp_avg_sq);
  f("max_exp_avg_sq", max_exp_avg_sq);
}
inline const char* old_adam_name(std::string_view field) {
  if (field == "step") return "step_buffers";
  if (field == "exp_avg") return "exp_average_buffers";
  return field == "exp_avg_sq" ? "exp_average_sq_buffers" : "max_exp_average_sq_buffers";
}
}  // namespace detail

class AdamOptions : public detail::NamedOptions<AdamOptions> {
 public:
  using betas_t = std::tuple<double, double>;
  AdamOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  TORCH_ARG(betas_t, betas) = betas_t(0.9, 0.999);
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, amsgrad) = false;

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    detail::each_adam_option(f, self.lr_, self.betas_, self.eps_, self.weight_decay_, self.amsgrad_);
  }
  /// The same for tandem.
  [[nodiscard]] tandem::optim::AdamOptions native() const {
    return {.lr = lr_,
            .betas = {std::get<0>(betas_), std::get<1>(betas_)},
            .eps = eps_,
            .weight_decay = weight_decay_,
            .amsgrad = amsgrad_,
            .maximize = false};
  }
};

class AdamParamState : public detail::NamedState<AdamParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(tandem::Tensor, exp_avg);
  TORCH_ARG(tandem::Tensor, exp_avg_sq);
  TORCH_ARG(tandem::Tensor, max_exp_avg_sq);

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    detail::each_adam_state(f, self.step_, self.exp_avg_, self.exp_avg_sq_, self.max_exp_avg_sq_);
  }
  static const char* old_name(std::string_view field) { return detail::old_adam_name(field); }
};

/// Adam: `torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.5}))`.
class Adam : public detail::FusedOptimizer<tandem::optim::Adam, AdamOptions, AdamParamState> {
 public:
  explicit Adam(std::vector<OptimizerParamGroup> groups, AdamOptions defaults = {}, tandem::Site site = tandem::Site::here())
      : FusedOptimizer(std::move(groups), defaults, site) {}
  explicit Adam(std::vector<tandem::Tensor> params, AdamOptions defaults = {}, tandem::Site site = tandem::Site::here())
      : FusedOptimizer({OptimizerParamGroup(std::move(params))}, defaults, site) {}
};

class AdamWOptions : public detail::NamedOptions<AdamWOptions> {
 public:
  using betas_t = std::tuple<double, double>;
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  TORCH_ARG(betas_t, betas) = betas_t(0.9, 0.999);
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 1e-2;
  TORCH_ARG(bool, amsgrad) = false;

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    detail::each_adam_option(f, self.lr_, self.betas_, self.eps_, self.weight_decay_, self.amsgrad_);
  }
  /// The same for tandem.
  [[nodiscard]] tandem::optim::AdamWOptions native() const {
    return {.lr = lr_,
            .betas = {std::get<0>(betas_), std::get<1>(betas_)},
            .eps = eps_,
            .weight_decay = weight_decay_,
            .amsgrad = amsgrad_,
            .maximize = false};
  }
};

class AdamWParamState : public detail::NamedState<AdamWParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(tandem::Tensor, exp_avg);
  TORCH_ARG(tandem::Tensor, exp_avg_sq);
  TORCH_ARG(tandem::Tensor, max_exp_avg_sq);

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    detail::each_adam_state(f, self.step_, self.exp_avg_, self.exp_avg_sq_, self.max_exp_avg_sq_);
  }
  static const char* old_name(std::string_view field) { return detail::old_adam_name(field); }
};

/// Adam with the weight decay apart from the gradient.
class AdamW : public detail::FusedOptimizer<tandem::optim::AdamW, AdamWOptions, AdamWParamState> {
 public:
  explicit AdamW(std::vector<OptimizerParamGroup> groups, AdamWOptions defaults = {}, tandem::Site site = tandem::Site::here())
      : FusedOptimizer(std::move(groups), defaults, site) {}
  explicit AdamW(std::vector<tandem::Tensor> params, AdamWOptions defaults = {}, tandem::Site site = tandem::Site::here())
      : FusedOptimizer({OptimizerParamGroup(std::move(params))}, defaults, site) {}
};

}  // namespace torch::optim
