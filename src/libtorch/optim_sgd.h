// SGD.
#pragma once

#include <string_view>

#include "libtorch/arg.h"
#include "libtorch/optim_fused.h"
#include "optim/sgd.h"

namespace torch::optim {

class SGDOptions : public detail::NamedOptions<SGDOptions> {
 public:
  SGDOptions(double lr) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(double, dampening) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, nesterov) = false;

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("lr", self.lr_);
    f("momentum", self.momentum_);
    f("dampening", self.dampening_);
    f("weight_decay", self.weight_decay_);
    f("nesterov", self.nesterov_);
  }
};

class SGDParamState : public detail::NamedState<SGDParamState> {
  TORCH_ARG(tandem::Tensor, momentum_buffer);

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("momentum_buffer", self.momentum_buffer_);
  }
  static const char* old_name(std::string_view /*field*/);
};

/// Stochastic gradient descent: `torch::optim::SGD sgd(net->parameters(), 0.01)`.
class SGD : public detail::FusedOptimizer<tandem::optim::SGD, SGDOptions, SGDParamState> {
 public:
  using FusedOptimizer::FusedOptimizer;
};

namespace detail {
extern template class Named<SGDOptions, OptimizerCloneableOptions>;
extern template class Named<SGDParamState, OptimizerCloneableParamState>;
extern template class FusedOptimizer<tandem::optim::SGD, SGDOptions, SGDParamState>;
}  // namespace detail

}  // namespace torch::optim
