// Averaged stochastic gradient descent.
#pragma once

#include "optim/stepped.h"

namespace tandem::optim {

struct ASGDOptions {
  double lr = 1e-2;
  double lambd = 1e-4;      // decay of the parameter
  double alpha = 0.75;      // power of the learning rate's decay
  double t0 = 1e6;          // the step at which averaging starts
  double weight_decay = 0;  // added to the gradient
  bool maximize = false;

  /// Error where a value makes no sense.
  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {
struct AsgdState {
  int64_t step = 0;
  double eta = 0;  // lr at first
  double mu = 1;
  Tensor ax;

  void each(Visitor& visitor);
  StateTensors parts(const ASGDOptions& options);
  void advance(const ASGDOptions& options, kernels::StepParameter& item);
  static kernels::OptimizerStep kind(const ASGDOptions& options);
};
extern template class Stepped<ASGDOptions, AsgdState>;
}  // namespace detail

/// Polyak and Juditsky, "Acceleration of stochastic approximation by averaging". As torch.optim.ASGD.
class ASGD : public detail::Stepped<ASGDOptions, detail::AsgdState> {
 public:
  explicit ASGD(std::vector<Tensor> params, const ASGDOptions& options = {}, Site = Site::here())
      : Stepped("ASGD", std::move(params), options) {}
  /// The same with a rate alone.
  explicit ASGD(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : ASGD(std::move(params), Options{.lr = lr}, site) {}
};

}  // namespace tandem::optim
