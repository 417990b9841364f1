// Stochastic gradient descent.
#pragma once

#include <memory>

#include "optim/fused_fwd.h"
#include "optim/optimizer.h"

namespace tandem::optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;

  /// Error where a value makes no sense.
  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {
struct SgdState {
  Tensor momentum_buffer;
  void each(Visitor& visitor) { visitor("momentum_buffer", momentum_buffer); }
};
}  // namespace detail

/// p -= lr * v, where v = momentum * v + (1 - dampening) * (gradient + weight_decay * p), and starts as the first gradient. As
/// torch.optim.SGD.
class SGD : public detail::OptimizerOf<SGDOptions, detail::SgdState> {
 public:
  explicit SGD(std::vector<Tensor> params, const SGDOptions& options = {}, Site = Site::here());
  /// The same with a rate alone.
  explicit SGD(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : SGD(std::move(params), Options{.lr = lr}, site) {}
  ~SGD() override;
  using Optimizer::step;
  void step(Site site = Site::here()) override;

 private:
  std::unique_ptr<detail::FusedStep<kernels::SgdParameter>> fused_;
};

}  // namespace tandem::optim
