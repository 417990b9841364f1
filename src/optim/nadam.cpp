#include "optim/nadam.h"

#include <cmath>

#include "optim/stepped_impl.h"

namespace tandem::optim {

void NAdamOptions::check() const {
  detail::check_adam_options("NAdam", *this);
  detail::check_not_negative("NAdam", "momentum_decay value", momentum_decay);
}

void NAdamOptions::each(detail::Visitor& visitor) {
  visitor("lr", lr);
  visitor("betas", betas);
  visitor("eps", eps);
  visitor("weight_decay", weight_decay);
  visitor("momentum_decay", momentum_decay);
  visitor("decoupled_weight_decay", decoupled_weight_decay);
  visitor("maximize", maximize);
}

namespace detail {

void NadamState::each(Visitor& visitor) {
  visitor("step", step);
  visitor("mu_product", mu_product);
  visitor("exp_avg", exp_avg);
  visitor("exp_avg_sq", exp_avg_sq);
}

Parts NadamState::parts(const NAdamOptions&) { return {{{&exp_avg}, {&exp_avg_sq}}}; }

void NadamState::advance(const NAdamOptions& options, kernels::StepParameter& item) {
  using Step = kernels::steps::Nadam;
  const auto t = static_cast<double>(++step);
  const auto momentum = [&](double at) { return options.betas.first * (1 - 0.5 * std::pow(0.96, at * options.momentum_decay)); };
  const double mu = momentum(t), mu_next = momentum(t + 1);
  mu_product *= mu;
  item.sign = options.maximize ? -1 : 1;
  if (options.decoupled_weight_decay) item.keep = 1 - options.lr * options.weight_decay;
  else item.weight_decay = options.weight_decay;
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
