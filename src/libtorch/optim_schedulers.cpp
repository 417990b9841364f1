#include "libtorch/optim_schedulers.h"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace torch::optim {

void LRScheduler::step(tandem::Site) {
  const std::vector<double> rates = get_lrs();
  auto& groups = optimizer_.param_groups();
  if (rates.size() != groups.size())
    tandem::fail("[LRScheduler] Number of learning rates not equal to the number of param groups: ", rates.size(), " rates and ",
                 groups.size(), " groups");
  for (size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(rates[i]);
  ++step_count_;
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const OptimizerParamGroup& group : optimizer_.param_groups()) rates.push_back(group.options().get_lr());
  return rates;
}

StepLR::StepLR(Optimizer& optimizer, unsigned step_size, double gamma) : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  if (step_size == 0) tandem::fail("[StepLR] step_size must be at least 1, got 0");
}

std::vector<double> StepLR::get_lrs() {
  std::vector<double> rates = get_current_lrs();
  if (step_count_ > 0 && step_count_ % step_size_ == 0)
    for (double& rate : rates) rate *= gamma_;
  return rates;
}

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode, float factor, int patience,
                                                       double threshold, ThresholdMode threshold_mode, int cooldown,
                                                       const std::vector<float>& min_lr, double eps, bool verbose, tandem::Site)
    : optimizer_(optimizer),
      mode_(mode),
      factor_(factor),
      patience_(patience),
      threshold_(threshold),
      threshold_mode_(threshold_mode),
      cooldown_(cooldown),
      min_lrs_(min_lr),
      eps_(eps),
      verbose_(verbose) {
  if (!(factor < 1)) tandem::fail("[ReduceLROnPlateauScheduler] Factor should be < 1.0, got ", static_cast<double>(factor));
  const size_t groups = optimizer.param_groups().size();
  if (min_lrs_.empty()) min_lrs_.assign(groups, 0);
  if (min_lrs_.size() != groups)
    tandem::fail("[ReduceLROnPlateauScheduler] Number of minimum rates should be equal to the number of parameter groups: ",
                 min_lrs_.size(), " and ", groups);
  reset();
}

void ReduceLROnPlateauScheduler::step(float metric) {
  ++epoch_;
  const auto value = static_cast<double>(metric);
  if (is_better(value)) {
    best_ = value;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= patience_) return;
  reduce();
  cooldown_left_ = cooldown_;
  bad_epochs_ = 0;
}

void ReduceLROnPlateauScheduler::reset() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  best_ = mode_ == min ? kInfinity : -kInfinity;
}

bool ReduceLROnPlateauScheduler::is_better(double metric) const {
  if (threshold_mode_ == rel) return mode_ == min ? metric < best_ * (1 - threshold_) : metric > best_ * (1 + threshold_);
  return mode_ == min ? metric < best_ - threshold_ : metric > best_ + threshold_;
}

void ReduceLROnPlateauScheduler::reduce() {
  for (size_t i = 0; i < optimizer_.param_groups().size(); ++i) {
    OptimizerOptions& options = optimizer_.param_groups()[i].options();
    const double before = options.get_lr(), after = std::max(before * static_cast<double>(factor_), static_cast<double>(min_lrs_[i]));
    if (before - after <= eps_) continue;
    options.set_lr(after);
    if (verbose_) std::printf("Epoch %d: reducing learning rate of group %zu to %.4e\n", epoch_, i, after);
  }
}

}  // namespace torch::optim
