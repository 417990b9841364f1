#include "optim/adadelta.h"

#include "optim/stepped_impl.h"

namespace tandem::optim {

void AdadeltaOptions::check() const {
  detail::check_not_negative("Adadelta", "learning rate", lr);
  if (!(rho >= 0 && rho <= 1)) fail("[Adadelta] Invalid rho value: ", rho, ": give a number from 0 to 1");
  detail::check_not_negative("Adadelta", "epsilon value", eps);
  detail::check_not_negative("Adadelta", "weight_decay value", weight_decay);
}

void AdadeltaOptions::each(detail::Visitor& visitor) {
  detail::each_named(visitor, "lr", lr, "rho", rho, "eps", eps, "weight_decay", weight_decay, "maximize", maximize);
}

namespace detail {

void AdadeltaState::each(Visitor& visitor) { each_named(visitor, "step", step, "square_avg", square_avg, "acc_delta", acc_delta); }

StateTensors AdadeltaState::parts(const AdadeltaOptions&) { return {{{&square_avg}, {&acc_delta}}}; }

void AdadeltaState::advance(const AdadeltaOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Adadelta;
  ++step;
  item.numbers[Step::kRho] = options.rho;
  item.numbers[Step::kEps] = options.eps;
  item.numbers[Step::kLr] = options.lr;
}

kernels::OptimizerStep AdadeltaState::kind(const AdadeltaOptions&) { return kernels::OptimizerStep::Adadelta; }

template class Stepped<AdadeltaOptions, AdadeltaState>;

}  // namespace detail
}  // namespace tandem::optim
