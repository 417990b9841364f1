// RMSprop.
#pragma once

#include <cstdint>
#include <string_view>

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
  static const char* old_name(std::string_view field);
};

/// RMSprop: steps scaled by a running mean of the squared gradient.
class RMSprop : public detail::FusedOptimizer<tandem::optim::RMSprop, RMSpropOptions, RMSpropParamState> {
 public:
  using FusedOptimizer::FusedOptimizer;
};

namespace detail {
extern template class Named<RMSpropOptions, OptimizerCloneableOptions>;
extern template class Named<RMSpropParamState, OptimizerCloneableParamState>;
extern template class FusedOptimizer<tandem::optim::RMSprop, RMSpropOptions, RMSpropParamState>;
}  // namespace detail

}  // namespace torch::optim
