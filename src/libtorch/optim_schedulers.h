// Schedulers: learning rates that change from epoch to epoch.
#pragma once

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
  void step(tandem::Site = tandem::Site::here());

 protected:
  /// A rate a group.
  virtual std::vector<double> get_lrs() = 0;
  [[nodiscard]] std::vector<double> get_current_lrs() const;

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

/// The rates times `gamma` every `step_size` epochs.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1);

 private:
  std::vector<double> get_lrs() override;

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
                             tandem::Site = tandem::Site::here());
  virtual ~ReduceLROnPlateauScheduler() = default;

  /// The metric of the epoch that has ended.
  void step(float metric);

 private:
  void reset();
  [[nodiscard]] bool is_better(double metric) const;
  void reduce();

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
