#include "optim/rmsprop.h"

#include "optim/stepped_impl.h"

namespace tandem::optim {

void RMSpropOptions::check() const {
  detail::check_not_negative("RMSprop", "learning rate", lr);
  detail::check_not_negative("RMSprop", "epsilon value", eps);
  detail::check_not_negative("RMSprop", "momentum value", momentum);
  detail::check_not_negative("RMSprop", "weight_decay value", weight_decay);
  detail::check_not_negative("RMSprop", "alpha value", alpha);
}

void RMSpropOptions::each(detail::Visitor& visitor) {
  detail::each_named(visitor, "lr", lr, "alpha", alpha, "eps", eps, "weight_decay", weight_decay, "momentum", momentum, "centered",
                     centered, "maximize", maximize);
}

namespace detail {

void RmsPropState::each(Visitor& visitor) {
  each_named(visitor, "step", step, "square_avg", square_avg, "grad_avg", grad_avg, "momentum_buffer", momentum_buffer);
}

StateTensors RmsPropState::parts(const RMSpropOptions& options) {
  Tensor* const momentum = options.momentum > 0 ? &momentum_buffer : nullptr;
  if (!options.centered) return {{{&square_avg}, {momentum}}};
  return {{{&square_avg}, {&grad_avg}, {momentum}}};
}

void RmsPropState::advance(const RMSpropOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::RmsPropNumbers;
  ++step;
  item.numbers[Step::kAlpha] = options.alpha;
  item.numbers[Step::kEps] = options.eps;
  item.numbers[Step::kLr] = options.lr;
  item.numbers[Step::kMomentum] = options.momentum;
}

kernels::OptimizerStep RmsPropState::kind(const RMSpropOptions& options) {
  using enum kernels::OptimizerStep;
  if (options.momentum > 0) return options.centered ? RmsPropBoth : RmsPropMomentum;
  return options.centered ? RmsPropCentered : RmsProp;
}

template class Stepped<RMSpropOptions, RmsPropState>;

}  // namespace detail
}  // namespace tandem::optim
