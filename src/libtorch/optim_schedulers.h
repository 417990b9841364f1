// Schedulers: learning rates that change from epoch to epoch.
#pragma once

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include "base/error.h"
#include "libtorch/optim_optimizer.h"

namespace torch::optim {

/// The base of schedulers; one's own overrides get_lrs. The optimizer must outlive it.
class LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
  virtual ~LRScheduler() = default;

  /// Sets the rates of the epoch that begins.
  void step(tandem::Site = tandem::Site::here()) {
    const std::vector<double> rates = get_lrs();
    auto& groups = optimizer_.param_groups();
    if (rates.size() != groups.size())
      tandem::fail("[LRScheduler] Number of learning rates not equal to the number of param groups: ", rates.size(), " rates and ",
                   groups.size(), " groups");
    for (size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(rates[i]);
    ++step_count_;
  }

 protected:
  /// A rate a group.
  virtual std::vector<double> get_lrs() = 0;
  [[nodiscard]] std::vector<double> get_current_lrs() const {
    std::vector<double> rates;
    for (const OptimizerParamGroup& group : optimizer_.param_groups()) rates.push_back(group.options().get_lr());
    return rates;
  }

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

/// The rates times `gamma` every `step_size` epochs.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1) : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
    if (step_size == 0) tandem::fail("[StepLR] step_size must be at least 1, got 0");
  }

 private:
  std::vector<double> get_lrs() override {
    std::vector<double> rates = get_current_lrs();
    if (step_count_ > 0 && step_count_ % step_size_ == 0)
      for (double& rate : rates) rate *= gamma_;
    return rates;
  }

  unsigned step_size_;
  double gamma_;
};

/// The rates times `factor` when a metric has not become better for more than `patience` epochs.
class ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };

  ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, float factor = 0.1F, int patience = 10,
                             double threshold = 1e-4, ThresholdMode threshold_mode = rel, int cooldown = 0,
                             const std::vector<float>& min_lr = {}, double eps = 1e-8, bool verbose = false,
                             tandem::Site = tandem::Site::here())
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
  virtual ~ReduceLROnPlateauScheduler() = default;

  /// The metric of the epoch that has ended.
  void step(float metric) {
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

 private:
  void reset() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    best_ = mode_ == min ? kInfinity : -kInfinity;
  }
  [[nodiscard]] bool is_better(double metric) const {
    if (threshold_mode_ == rel) return mode_ == min ? metric < best_ * (1 - threshold_) : metric > best_ * (1 + threshold_);
    return mode_ == min ? metric < best_ - threshold_ : metric > best_ + threshold_;
  }
  void reduce() {
    for (size_t i = 0; i < optimizer_.param_groups().size(); ++i) {
      OptimizerOptions& options = optimizer_.param_groups()[i].options();
      const double before = options.get_lr(), after = std::max(before * static_cast<double>(factor_), static_cast<double>(min_lrs_[i]));
      if (before - after <= eps_) continue;
      options.set_lr(after);
      if (verbose_) std::printf("Epoch %d: reducing learning rate of group %zu to %.4e\n", epoch_, i, after);
    }
  }

  Optimizer& optimizer_;
  SchedulerMode mode_;
  float factor_;
  int patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  int cooldown_;
  std::vector<float> min_lrs_;
  double eps_;
  bool verbose_;
  double best_ = 0;
  int epoch_ = 0, bad_epochs_ = 0, cooldown_left_ = 0;
};

}  // namespace torch::optim
