// RMSprop.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "libtorch/arg.h"
#include "libtorch/optim_fused.h"
#include "optim/rmsprop.h"

namespace torch::optim {

class RMSpropOptions : public detail::NamedOptions<RMSpropOptions> {
 public:
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-2;
  TORCH_ARG(double, alpha) = 0.99;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(bool, centered) = false;

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("lr", self.lr_);
    f("alpha", self.alpha_);
    f("eps", self.eps_);
    f("weight_decay", self.weight_decay_);
    f("momentum", self.momentum_);
    f("centered", self.centered_);
  }
  /// The same for tandem.
  [[nodiscard]] tandem::optim::RMSpropOptions native() const {
    return {.lr = lr_,
            .alpha = alpha_,
            .eps = eps_,
            .weight_decay = weight_decay_,
            .momentum = momentum_,
            .centered = centered_,
            .maximize = false};
  }
};

class RMSpropParamState : public detail::NamedState<RMSpropParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(tandem::Tensor, square_avg);
  TORCH_ARG(tandem::Tensor, momentum_buffer);
  TORCH_ARG(tandem::Tensor, grad_avg);

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("step", self.step_);
    f("square_avg", self.square_avg_);
    f("momentum_buffer", self.momentum_buffer_);
    f("grad_avg", self.grad_avg_);
  }
  /// The steps were not counted.
  static const char* old_name(std::string_view field) {
    if (field == "square_avg") return "square_average_buffers";
    if (field == "momentum_buffer") return "momentum_buffers";
    return field == "grad_avg" ? "grad_average_buffers" : nullptr;
  }
};

/// RMSprop: steps scaled by a running mean of the squared gradient.
class RMSprop : public detail::FusedOptimizer<tandem::optim::RMSprop, RMSpropOptions, RMSpropParamState> {
 public:
  explicit RMSprop(std::vector<OptimizerParamGroup> groups, RMSpropOptions defaults = {}, tandem::Site site = tandem::Site::here())
      : FusedOptimizer(std::move(groups), defaults, site) {}
  explicit RMSprop(std::vector<tandem::Tensor> params, RMSpropOptions defaults = {}, tandem::Site site = tandem::Site::here())
      : FusedOptimizer({OptimizerParamGroup(std::move(params))}, defaults, site) {}
};

}  // namespace torch::optim
