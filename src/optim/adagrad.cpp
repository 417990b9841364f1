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
  detail::each_named(visitor, "lr", lr, "lr_decay", lr_decay, "weight_decay", weight_decay, "initial_accumulator_value",
                     initial_accumulator_value, "eps", eps, "maximize", maximize);
}

namespace detail {

void AdagradState::each(Visitor& visitor) { each_named(visitor, "step", step, "sum", sum); }

StateTensors AdagradState::parts(const AdagradOptions& options) { return {{{&sum, options.initial_accumulator_value}}}; }

void AdagradState::advance(const AdagradOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Adagrad;
  ++step;
  item.numbers[Step::kDecayedLr] = options.lr / (1 + static_cast<double>(step - 1) * options.lr_decay);
  item.numbers[Step::kEps] = options.eps;
}

kernels::OptimizerStep AdagradState::kind(const AdagradOptions&) { return kernels::OptimizerStep::Adagrad; }

template class Stepped<AdagradOptions, AdagradState>;

}  // namespace detail
}  // namespace tandem::optim
