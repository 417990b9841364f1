// Schedules: learning rates that change from step to step. As torch.optim.lr_scheduler; each may be used beside others on one optimizer.
#pragma once

#include <functional>
#include <memory>

#include "optim/optimizer.h"

namespace tandem::optim {

/// Sets the learning rate of every group of an optimizer, which must outlive it. Making one sets the rate of the first epoch; where
/// `last_epoch` is given, the rate of the epoch behind it, from the group's own: the optimizer's groups must have `initial_lr` then.
class Schedule {
 public:
  virtual ~Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// The next rate: call it after the optimizer's step, once an epoch or once a step as the schedule is meant.
  virtual void step(Site = Site::here());
  /// What was set last, a number a group.
  [[nodiscard]] std::vector<double> get_last_lr() const;
  /// How often it has stepped.
  [[nodiscard]] int64_t last_epoch() const { return epoch_; }
  /// What a resumed run needs; the optimizer's own dictionary has the rates.
  [[nodiscard]] virtual StateDict state_dict() const;
  /// Goes on from what state_dict gave.
  virtual void load_state_dict(const StateDict& state);

 protected:
  friend class SequentialLR;
  friend class ChainedScheduler;
  Schedule(const char* name, Optimizer& optimizer);
  /// What a constructor ends with: the first epoch's rates, or those behind `last_epoch`.
  void begin(int64_t last_epoch);
  /// The rate of the first epoch.
  virtual double first(double base) const { return base; }
  /// The rate of epoch `epoch_` > 0 where the one before was `lr`.
  virtual double next(double lr, double base) const = 0;
  /// Begins anew: epoch 0.
  virtual void restart();
  [[nodiscard]] const char* name() const { return name_; }

  const char* name_;
  Optimizer& optimizer_;
  int64_t epoch_ = 0;
  bool began_before_ = true;  // all groups had initial_lr when this was made
};

/// lr *= gamma every `step_size` epochs.
class StepLR final : public Schedule {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1, int64_t last_epoch = -1, Site = Site::here());

 private:
  double next(double lr, double base) const override;
  int64_t step_size_;
  double gamma_;
};

/// lr *= gamma at each of the milestones.
class MultiStepLR final : public Schedule {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1, int64_t last_epoch = -1, Site = Site::here());

 private:
  double next(double lr, double base) const override;
  std::vector<int64_t> milestones_;
  double gamma_;
};

/// lr *= gamma every epoch.
class ExponentialLR final : public Schedule {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma, int64_t last_epoch = -1, Site = Site::here());

 private:
  double next(double lr, double base) const override;
  double gamma_;
};

/// The first rate times `factor` for `total_iters` epochs, then the first rate.
class ConstantLR final : public Schedule {
 public:
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5, int64_t last_epoch = -1, Site = Site::here());

 private:
  double first(double base) const override { return base * factor_; }
  double next(double lr, double base) const override;
  double factor_;
  int64_t total_;
};

/// Half a cosine from the first rate down to `eta_min` in `T_max` epochs, and up again. Loshchilov and Hutter, "SGDR", without restarts.
class CosineAnnealingLR final : public Schedule {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0, int64_t last_epoch = -1, Site = Site::here());

 private:
  double next(double lr, double base) const override;
  double period_, eta_min_;
};

/// From start_factor times the first rate to end_factor times it, in a straight line of `total_iters` epochs.
class LinearLR final : public Schedule {
 public:
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1.0, int64_t total_iters = 5, int64_t last_epoch = -1,
           Site = Site::here());

 private:
  double first(double base) const override { return base * start_; }
  double next(double lr, double base) const override;
  double start_, end_;
  int64_t total_;
};

/// Down to 0 in `total_iters` epochs as (1 - epoch / total_iters)^power.
class PolynomialLR final : public Schedule {
 public:
  explicit PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1, int64_t last_epoch = -1, Site = Site::here());

 private:
  double next(double lr, double base) const override;
  int64_t total_;
  double power_;
};

/// The first rate times a function of the epoch.
class LambdaLR final : public Schedule {
 public:
  LambdaLR(Optimizer& optimizer, std::function<double(int64_t)> factor, int64_t last_epoch = -1, Site = Site::here());

 private:
  double first(double base) const override { return base * factor_(0); }
  double next(double lr, double base) const override;
  std::function<double(int64_t)> factor_;
};

/// The rate before times a function of the epoch.
class MultiplicativeLR final : public Schedule {
 public:
  MultiplicativeLR(Optimizer& optimizer, std::function<double(int64_t)> factor, int64_t last_epoch = -1, Site = Site::here());

 private:
  double next(double lr, double base) const override;
  std::function<double(int64_t)> factor_;
};

struct OneCycleOptions {
  double pct_start = 0.3;      // the share of the cycle that rises
  bool cosine = true;          // else straight lines (anneal_strategy)
  bool cycle_momentum = true;  // momentum, or beta1, falls while the rate rises
  double base_momentum = 0.85, max_momentum = 0.95;
  double div_factor = 25, final_div_factor = 1e4;  // first rate = max_lr / div_factor, last = first / final_div_factor
  bool three_phase = false;                        // down as long as up, then to the last rate
};

/// Up to `max_lr` and down again: `total_steps` rates, one a batch. Smith and Topin, "Super-convergence". Called after each batch it steps
/// once more than it needs to, and stays at the last rate then, where PyTorch's goes on in its line, to negative rates.
class OneCycleLR final : public Schedule {
 public:
  OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps, const OneCycleOptions& options = {}, Site = Site::here());
  /// Error where it has stepped `total_steps` times.
  void step(Site = Site::here()) override;

 private:
  double first(double base) const override;
  double next(double lr, double base) const override;
  void restart() override;
  double at(double low, double high, double last) const;
  void set_momentum();
  double max_lr_;
  int64_t total_;
  OneCycleOptions options_;
};

/// One schedule after another: the second takes over at the first milestone.
class SequentialLR final : public Schedule {
 public:
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<Schedule>> schedules, std::vector<int64_t> milestones,
               Site = Site::here());
  void step(Site = Site::here()) override;
  [[nodiscard]] StateDict state_dict() const override;
  void load_state_dict(const StateDict& state) override;

 private:
  double next(double lr, double) const override { return lr; }
  size_t current() const;
  std::vector<std::shared_ptr<Schedule>> schedules_;
  std::vector<int64_t> milestones_;
};

/// Several schedules at once: each changes the rate that the one before it has set.
class ChainedScheduler final : public Schedule {
 public:
  /// Error where there is none, and unless all belong to one optimizer.
  explicit ChainedScheduler(std::vector<std::shared_ptr<Schedule>> schedules, Site = Site::here());
  void step(Site = Site::here()) override;
  [[nodiscard]] StateDict state_dict() const override;
  void load_state_dict(const StateDict& state) override;

 private:
  double next(double lr, double) const override { return lr; }
  std::vector<std::shared_ptr<Schedule>> schedules_;
};

/// Options of ReduceLROnPlateau, in this order.
struct PlateauOptions {
  bool maximize = false;  // mode 'max': the metric is to grow
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;
  bool relative = true;  // threshold_mode
  int64_t cooldown = 0;
  double min_lr = 0, eps = 1e-8;
};

/// lr *= factor when a metric has not become better for more than `patience` epochs.
class ReduceLROnPlateau {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& options = {}, Site = Site::here());
  /// The metric of the epoch that has ended.
  void step(double metric);
  /// What was set last, a number a group.
  [[nodiscard]] std::vector<double> get_last_lr() const;
  /// What a resumed run needs.
  [[nodiscard]] StateDict state_dict() const;
  /// Goes on from what state_dict gave.
  void load_state_dict(const StateDict& state);

 private:
  bool better(double metric) const;
  Optimizer& optimizer_;
  PlateauOptions options_;
  double best_;
  int64_t bad_epochs_ = 0, cooldown_left_ = 0;
};

}  // namespace tandem::optim
