#include "optim/adamax.h"

#include <cmath>

#include "optim/stepped_impl.h"

namespace tandem::optim {

void AdamaxOptions::check() const { detail::check_adam_options("Adamax", *this); }

void AdamaxOptions::each(detail::Visitor& visitor) {
  detail::each_named(visitor, "lr", lr, "betas", betas, "eps", eps, "weight_decay", weight_decay, "maximize", maximize);
}

namespace detail {

void AdamaxState::each(Visitor& visitor) { each_named(visitor, "step", step, "exp_avg", exp_avg, "exp_inf", exp_inf); }

StateTensors AdamaxState::parts(const AdamaxOptions&) { return {{{&exp_avg}, {&exp_inf}}}; }

void AdamaxState::advance(const AdamaxOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Adamax;
  ++step;
  item.numbers[Step::kOneMinusBeta1] = 1 - options.betas.first;
  item.numbers[Step::kBeta2] = options.betas.second;
  item.numbers[Step::kEps] = options.eps;
  item.numbers[Step::kStepSize] = options.lr / (1 - std::pow(options.betas.first, static_cast<double>(step)));
}

kernels::OptimizerStep AdamaxState::kind(const AdamaxOptions&) { return kernels::OptimizerStep::Adamax; }

template class Stepped<AdamaxOptions, AdamaxState>;

}  // namespace detail
}  // namespace tandem::optim
