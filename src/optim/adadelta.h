// Adadelta: steps scaled by running means of squared steps and squared gradients.
#pragma once

#include "optim/stepped.h"

namespace tandem::optim {

struct AdadeltaOptions {
  double lr = 1.0;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0;  // added to the gradient
  bool maximize = false;

  /// Error where a value makes no sense.
  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {
struct AdadeltaState {
  int64_t step = 0;
  Tensor square_avg;
  Tensor acc_delta;

  void each(Visitor& visitor);
  StateTensors parts(const AdadeltaOptions& options);
  void advance(const AdadeltaOptions& options, kernels::StepParameter& item);
  static kernels::OptimizerStep kind(const AdadeltaOptions& options);
};
extern template class Stepped<AdadeltaOptions, AdadeltaState>;
}  // namespace detail

/// Zeiler, "ADADELTA: an adaptive learning rate method". As torch.optim.Adadelta.
class Adadelta : public detail::Stepped<AdadeltaOptions, detail::AdadeltaState> {
 public:
  explicit Adadelta(std::vector<Tensor> params, const AdadeltaOptions& options = {}, Site = Site::here())
      : Stepped("Adadelta", std::move(params), options) {}
  /// The same with a rate alone.
  explicit Adadelta(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : Adadelta(std::move(params), Options{.lr = lr}, site) {}
};

}  // namespace tandem::optim
