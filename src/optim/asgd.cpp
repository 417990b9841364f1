#include "optim/asgd.h"

#include <algorithm>
#include <cmath>

#include "optim/stepped_impl.h"

namespace tandem::optim {

void ASGDOptions::check() const {
  detail::check_not_negative("ASGD", "learning rate", lr);
  detail::check_not_negative("ASGD", "weight_decay value", weight_decay);
}

void ASGDOptions::each(detail::Visitor& visitor) {
  detail::each_named(visitor, "lr", lr, "lambd", lambd, "alpha", alpha, "t0", t0, "weight_decay", weight_decay, "maximize", maximize);
}

namespace detail {

void AsgdState::each(Visitor& visitor) { each_named(visitor, "step", step, "eta", eta, "mu", mu, "ax", ax); }

StateTensors AsgdState::parts(const ASGDOptions&) { return {{{&ax}}}; }

void AsgdState::advance(const ASGDOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Asgd;
  if (step == 0) eta = options.lr;
  ++step;
  item.keep = 1 - options.lambd * eta;
  item.numbers[Step::kEta] = eta;
  item.numbers[Step::kMu] = mu;
  const auto t = static_cast<double>(step);
  eta = options.lr / std::pow(1 + options.lambd * options.lr * t, options.alpha);
  mu = 1 / std::max(1.0, t - options.t0);
}

kernels::OptimizerStep AsgdState::kind(const ASGDOptions&) { return kernels::OptimizerStep::Asgd; }

template class Stepped<ASGDOptions, AsgdState>;

}  // namespace detail
}  // namespace tandem::optim
