#include "optim/adagrad.h"

#include "optim/stepped_impl.h"

namespace tandem::optim {

void AdagradOptions::check() const {
  detail::check_not_negative("Adagrad", "learning rate", lr);
  detail::check_not_negative("Adagrad", "lr_decay value", lr_decay);
  detail::check_not_negative("Adagrad", "weight_decay value", weight_decay);
  detail::check_not_negative("Adagrad", "initial_accumulator_value value", initial_accumulator_value);
  detail::check_not_negative("Adagrad", "epsilon value", eps);
}

void AdagradOptions::each(detail::Visitor& visitor) {
  visitor("lr", lr);
  visitor("lr_decay", lr_decay);
  visitor("weight_decay", weight_decay);
  visitor("initial_accumulator_value", initial_accumulator_value);
  visitor("eps", eps);
  visitor("maximize", maximize);
}

namespace detail {

void AdagradState::each(Visitor& visitor) {
  visitor("step", step);
  visitor("sum", sum);
}

Parts AdagradState::parts(const AdagradOptions& options) { return {{{&sum, options.initial_accumulator_value}}}; }

void AdagradState::advance(const AdagradOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Adagrad;
  ++step;
  item.sign = options.maximize ? -1 : 1;
  item.weight_decay = options.weight_decay;
  item.numbers[Step::kDecayedLr] = options.lr / (1 + static_cast<double>(step - 1) * options.lr_decay);
  item.numbers[Step::kEps] = options.eps;
}

kernels::OptimizerStep AdagradState::kind(const AdagradOptions&) { return kernels::OptimizerStep::Adagrad; }

template class Stepped<AdagradOptions, AdagradState>;

}  // namespace detail
}  // namespace tandem::optim
