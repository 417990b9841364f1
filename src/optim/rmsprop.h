// RMSprop: steps scaled by a running mean of the squared gradient.
#pragma once

#include "optim/stepped.h"

namespace tandem::optim {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  // how much of the mean stays
  double eps = 1e-8;
  double weight_decay = 0;  // added to the gradient
  double momentum = 0;
  bool centered = false;  // subtract the squared mean gradient
  bool maximize = false;

  /// Error where a value makes no sense.
  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {
struct RmsPropState {
  int64_t step = 0;
  Tensor square_avg;
  Tensor grad_avg;
  Tensor momentum_buffer;

  void each(Visitor& visitor);
  StateTensors parts(const RMSpropOptions& options);
  void advance(const RMSpropOptions& options, kernels::StepParameter& item);
  static kernels::OptimizerStep kind(const RMSpropOptions& options);
};
extern template class Stepped<RMSpropOptions, RmsPropState>;
}  // namespace detail

/// Hinton's lecture notes; centered, Graves, "Generating sequences with recurrent neural networks". As torch.optim.RMSprop.
class RMSprop : public detail::Stepped<RMSpropOptions, detail::RmsPropState> {
 public:
  explicit RMSprop(std::vector<Tensor> params, const RMSpropOptions& options = {}, Site = Site::here())
      : Stepped("RMSprop", std::move(params), options) {}
  /// The same with a rate alone.
  explicit RMSprop(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : RMSprop(std::move(params), Options{.lr = lr}, site) {}
};

}  // namespace tandem::optim
