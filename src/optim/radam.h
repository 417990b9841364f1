// RAdam: Adam whose first steps are rectified for the few gradients they have seen.
#pragma once

#include "optim/stepped.h"

namespace tandem::optim {

struct RAdamOptions {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;  // shrink the parameter, not the gradient
  bool maximize = false;

  /// Error where a value makes no sense.
  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {
struct RadamState {
  int64_t step = 0;
  Tensor exp_avg;
  Tensor exp_avg_sq;

  void each(Visitor& visitor);
  StateTensors parts(const RAdamOptions& options);
  void advance(const RAdamOptions& options, kernels::StepParameter& item);
  static kernels::OptimizerStep kind(const RAdamOptions& options);
};
extern template class Stepped<RAdamOptions, RadamState>;
}  // namespace detail

/// Liu and others, "On the variance of the adaptive learning rate and beyond". As torch.optim.RAdam.
class RAdam : public detail::Stepped<RAdamOptions, detail::RadamState> {
 public:
  explicit RAdam(std::vector<Tensor> params, const RAdamOptions& options = {}, Site = Site::here())
      : Stepped("RAdam", std::move(params), options) {}
  /// The same with a rate alone.
  explicit RAdam(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : RAdam(std::move(params), Options{.lr = lr}, site) {}
};

}  // namespace tandem::optim
