// Rprop: only the sign of the gradient counts, and whether it stays.
#pragma once

#include "optim/stepped.h"

namespace tandem::optim {

struct RpropOptions {
  double lr = 1e-2;
  std::pair<double, double> etas = {0.5, 1.2};        // what a step size shrinks and grows by
  std::pair<double, double> step_sizes = {1e-6, 50};  // the smallest and the largest
  bool maximize = false;

  /// Error where a value makes no sense.
  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {
struct RpropState {
  int64_t step = 0;
  Tensor prev;
  Tensor step_size;

  void each(Visitor& visitor);
  StateTensors parts(const RpropOptions& options);
  void advance(const RpropOptions& options, kernels::StepParameter& item);
  static kernels::OptimizerStep kind(const RpropOptions& options);
};
extern template class Stepped<RpropOptions, RpropState>;
}  // namespace detail

/// Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning: the RPROP algorithm". As torch.optim.Rprop.
class Rprop : public detail::Stepped<RpropOptions, detail::RpropState> {
 public:
  explicit Rprop(std::vector<Tensor> params, const RpropOptions& options = {}, Site = Site::here())
      : Stepped("Rprop", std::move(params), options) {}
  /// The same with a rate alone.
  explicit Rprop(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : Rprop(std::move(params), Options{.lr = lr}, site) {}
};

}  // namespace tandem::optim
