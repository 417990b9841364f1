// Adagrad.
#pragma once

#include <cstdint>
#include <string_view>

#include "libtorch/arg.h"
#include "libtorch/optim_fused.h"
#include "optim/adagrad.h"

namespace torch::optim {

class AdagradOptions : public detail::NamedOptions<AdagradOptions> {
 public:
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-2;
  TORCH_ARG(double, lr_decay) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, initial_accumulator_value) = 0;
  TORCH_ARG(double, eps) = 1e-10;

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("lr", self.lr_);
    f("lr_decay", self.lr_decay_);
    f("weight_decay", self.weight_decay_);
    f("initial_accumulator_value", self.initial_accumulator_value_);
    f("eps", self.eps_);
  }
};

class AdagradParamState : public detail::NamedState<AdagradParamState> {
  TORCH_ARG(tandem::Tensor, sum);
  TORCH_ARG(int64_t, step) = 0;

 public:
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    f("sum", self.sum_);
    f("step", self.step_);
  }
  /// There is a state before the first step, too.
  static AdagradParamState start(const tandem::Tensor& parameter, const AdagradOptions& options);
  static const char* old_name(std::string_view field);
};

/// Adagrad: steps scaled by the sum of squared gradients.
class Adagrad : public detail::FusedOptimizer<tandem::optim::Adagrad, AdagradOptions, AdagradParamState> {
 public:
  using FusedOptimizer::FusedOptimizer;
};

namespace detail {
extern template class Named<AdagradOptions, OptimizerCloneableOptions>;
extern template class Named<AdagradParamState, OptimizerCloneableParamState>;
extern template class FusedOptimizer<tandem::optim::Adagrad, AdagradOptions, AdagradParamState>;
}  // namespace detail

}  // namespace torch::optim
