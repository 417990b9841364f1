#include "optim/nadam.h"

#include <cmath>

#include "optim/stepped_impl.h"

namespace tandem::optim {

void NAdamOptions::check() const {
  detail::check_adam_options("NAdam", *this);
  detail::check_not_negative("NAdam", "momentum_decay value", momentum_decay);
}

void NAdamOptions::each(detail::Visitor& visitor) {
  detail::each_named(visitor, "lr", lr, "betas", betas, "eps", eps, "weight_decay", weight_decay, "momentum_decay", momentum_decay,
                     "decoupled_weight_decay", decoupled_weight_decay, "maximize", maximize);
}

namespace detail {

void NadamState::each(Visitor& visitor) {
  each_named(visitor, "step", step, "mu_product", mu_product, "exp_avg", exp_avg, "exp_avg_sq", exp_avg_sq);
}

StateTensors NadamState::parts(const NAdamOptions&) { return {{{&exp_avg}, {&exp_avg_sq}}}; }

void NadamState::advance(const NAdamOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Nadam;
  const auto t = static_cast<double>(++step);
  const auto momentum = [&](double at) { return options.betas.first * (1 - 0.5 * std::pow(0.96, at * options.momentum_decay)); };
  const double mu = momentum(t), mu_next = momentum(t + 1);
  mu_product *= mu;
  item.numbers[Step::kOneMinusBeta1] = 1 - options.betas.first;
  item.numbers[Step::kBeta2] = options.betas.second;
  item.numbers[Step::kRootScale] = 1 / std::sqrt(1 - std::pow(options.betas.second, t));
  item.numbers[Step::kEps] = options.eps;
  item.numbers[Step::kGradientStep] = options.lr * (1 - mu) / (1 - mu_product);
  item.numbers[Step::kMeanStep] = options.lr * mu_next / (1 - mu_product * mu_next);
}

kernels::OptimizerStep NadamState::kind(const NAdamOptions&) { return kernels::OptimizerStep::Nadam; }

template class Stepped<NAdamOptions, NadamState>;

}  // namespace detail
}  // namespace tandem::optim
