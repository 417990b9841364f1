// NAdam: Adam with Nesterov momentum.
#pragma once

#include "optim/stepped.h"

namespace tandem::optim {

struct NAdamOptions {
  double lr = 2e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;  // shrink the parameter, not the gradient
  bool maximize = false;

  /// Error where a value makes no sense.
  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {
struct NadamState {
  int64_t step = 0;
  double mu_product = 1;
  Tensor exp_avg;
  Tensor exp_avg_sq;

  void each(Visitor& visitor);
  StateTensors parts(const NAdamOptions& options);
  void advance(const NAdamOptions& options, kernels::StepParameter& item);
  static kernels::OptimizerStep kind(const NAdamOptions& options);
};
extern template class Stepped<NAdamOptions, NadamState>;
}  // namespace detail

/// Dozat, "Incorporating Nesterov momentum into Adam". As torch.optim.NAdam.
class NAdam : public detail::Stepped<NAdamOptions, detail::NadamState> {
 public:
  explicit NAdam(std::vector<Tensor> params, const NAdamOptions& options = {}, Site = Site::here())
      : Stepped("NAdam", std::move(params), options) {}
  /// The same with a rate alone.
  explicit NAdam(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : NAdam(std::move(params), Options{.lr = lr}, site) {}
};

}  // namespace tandem::optim
