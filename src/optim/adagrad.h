// Adagrad: steps scaled by the sum of squared gradients.
#pragma once

#include "optim/stepped.h"

namespace tandem::optim {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;  // added to the gradient
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  bool maximize = false;

  /// Error where a value makes no sense.
  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {
struct AdagradState {
  int64_t step = 0;
  Tensor sum;

  void each(Visitor& visitor);
  StateTensors parts(const AdagradOptions& options);
  void advance(const AdagradOptions& options, kernels::StepParameter& item);
  static kernels::OptimizerStep kind(const AdagradOptions& options);
};
extern template class Stepped<AdagradOptions, AdagradState>;
}  // namespace detail

/// Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic optimization". As torch.optim.Adagrad.
class Adagrad : public detail::Stepped<AdagradOptions, detail::AdagradState> {
 public:
  explicit Adagrad(std::vector<Tensor> params, const AdagradOptions& options = {}, Site = Site::here())
      : Stepped("Adagrad", std::move(params), options) {}
  /// The same with a rate alone.
  explicit Adagrad(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : Adagrad(std::move(params), Options{.lr = lr}, site) {}
};

}  // namespace tandem::optim
