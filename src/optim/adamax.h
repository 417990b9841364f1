// Adamax: Adam with the infinity norm.
#pragma once

#include "optim/stepped.h"

namespace tandem::optim {

struct AdamaxOptions {
  double lr = 2e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;  // added to the gradient
  bool maximize = false;

  /// Error where a value makes no sense.
  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {
struct AdamaxState {
  int64_t step = 0;
  Tensor exp_avg;
  Tensor exp_inf;

  void each(Visitor& visitor);
  StateTensors parts(const AdamaxOptions& options);
  void advance(const AdamaxOptions& options, kernels::StepParameter& item);
  static kernels::OptimizerStep kind(const AdamaxOptions& options);
};
extern template class Stepped<AdamaxOptions, AdamaxState>;
}  // namespace detail

/// Kingma and Ba, "Adam: a method for stochastic optimization", section 7. As torch.optim.Adamax.
class Adamax : public detail::Stepped<AdamaxOptions, detail::AdamaxState> {
 public:
  explicit Adamax(std::vector<Tensor> params, const AdamaxOptions& options = {}, Site = Site::here())
      : Stepped("Adamax", std::move(params), options) {}
  /// The same with a rate alone.
  explicit Adamax(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : Adamax(std::move(params), Options{.lr = lr}, site) {}
};

}  // namespace tandem::optim
