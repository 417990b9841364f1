#include "optim/adamax.h"

#include <cmath>

#include "optim/stepped_impl.h"

namespace tandem::optim {

void AdamaxOptions::check() const { detail::check_adam_options("Adamax", *this); }

void AdamaxOptions::each(detail::Visitor& visitor) {
  visitor("lr", lr);
  visitor("betas", betas);
  visitor("eps", eps);
  visitor("weight_decay", weight_decay);
  visitor("maximize", maximize);
}

namespace detail {

void AdamaxState::each(Visitor& visitor) {
  visitor("step", step);
  visitor("exp_avg", exp_avg);
  visitor("exp_inf", exp_inf);
}

Parts AdamaxState::parts(const AdamaxOptions&) { return {{{&exp_avg}, {&exp_inf}}}; }

void AdamaxState::advance(const AdamaxOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Adamax;
  ++step;
  item.sign = options.maximize ? -1 : 1;
  item.weight_decay = options.weight_decay;
  item.numbers[Step::kOneMinusBeta1] = 1 - options.betas.first;
  item.numbers[Step::kBeta2] = options.betas.second;
  item.numbers[Step::kEps] = options.eps;
  item.numbers[Step::kStepSize] = options.lr / (1 - std::pow(options.betas.first, static_cast<double>(step)));
}

kernels::OptimizerStep AdamaxState::kind(const AdamaxOptions&) { return kernels::OptimizerStep::Adamax; }

template class Stepped<AdamaxOptions, AdamaxState>;

}  // namespace detail
}  // namespace tandem::optim
