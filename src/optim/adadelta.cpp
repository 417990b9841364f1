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
  visitor("lr", lr);
  visitor("rho", rho);
  visitor("eps", eps);
  visitor("weight_decay", weight_decay);
  visitor("maximize", maximize);
}

namespace detail {

void AdadeltaState::each(Visitor& visitor) {
  visitor("step", step);
  visitor("square_avg", square_avg);
  visitor("acc_delta", acc_delta);
}

Parts AdadeltaState::parts(const AdadeltaOptions&) { return {{{&square_avg}, {&acc_delta}}}; }

void AdadeltaState::advance(const AdadeltaOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Adadelta;
  ++step;
  item.sign = options.maximize ? -1 : 1;
  item.weight_decay = options.weight_decay;
  item.numbers[Step::kRho] = options.rho;
  item.numbers[Step::kEps] = options.eps;
  item.numbers[Step::kLr] = options.lr;
}

kernels::OptimizerStep AdadeltaState::kind(const AdadeltaOptions&) { return kernels::OptimizerStep::Adadelta; }

template class Stepped<AdadeltaOptions, AdadeltaState>;

}  // namespace detail
}  // namespace tandem::optim
