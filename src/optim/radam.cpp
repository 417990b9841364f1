#include "optim/radam.h"

#include <cmath>

#include "optim/stepped_impl.h"

namespace tandem::optim {

void RAdamOptions::check() const { detail::check_adam_options("RAdam", *this); }

void RAdamOptions::each(detail::Visitor& visitor) {
  detail::each_named(visitor, "lr", lr, "betas", betas, "eps", eps, "weight_decay", weight_decay, "decoupled_weight_decay",
                     decoupled_weight_decay, "maximize", maximize);
}

namespace detail {

void RadamState::each(Visitor& visitor) { each_named(visitor, "step", step, "exp_avg", exp_avg, "exp_avg_sq", exp_avg_sq); }

StateTensors RadamState::parts(const RAdamOptions&) { return {{{&exp_avg}, {&exp_avg_sq}}}; }

void RadamState::advance(const RAdamOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Radam;
  const auto t = static_cast<double>(++step);
  const double beta2_power = std::pow(options.betas.second, t), length = 2 / (1 - options.betas.second) - 1;
  const double now = length - 2 * t * beta2_power / (1 - beta2_power), step_size = options.lr / (1 - std::pow(options.betas.first, t));
  item.numbers[Step::kOneMinusBeta1] = 1 - options.betas.first;
  item.numbers[Step::kBeta2] = options.betas.second;
  item.numbers[Step::kEps] = options.eps;
  if (now > 5) {
    const double rectification = std::sqrt((now - 4) * (now - 2) * length / ((length - 4) * (length - 2) * now));
    item.numbers[Step::kRectifiedStep] = step_size * rectification * std::sqrt(1 - beta2_power);
  } else {
    item.numbers[Step::kPlainStep] = step_size;
  }
}

kernels::OptimizerStep RadamState::kind(const RAdamOptions&) { return kernels::OptimizerStep::Radam; }

template class Stepped<RAdamOptions, RadamState>;

}  // namespace detail
}  // namespace tandem::optim
