// Schedules that go through their rates again and again: warm restarts, and cycles between two rates.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "optim/schedule.h"

namespace tandem::optim {

/// Half a cosine from the first rate down to `eta_min` in T_0 epochs, then from the first rate anew; each time takes T_mult times as long
/// as the one before. Loshchilov and Hutter, "SGDR".
class CosineAnnealingWarmRestarts final : public Schedule {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult = 1, double eta_min = 0, int64_t last_epoch = -1,
                              Site = Site::here());

 private:
  double next(double lr, double base) const override;
  int64_t first_period_, growth_;
  double eta_min_;
};

/// Options of CyclicLR, in this order.
struct CyclicOptions {
  int64_t step_size_up = 2000;                 // steps from the lower rate to the higher one
  std::optional<int64_t> step_size_down = {};  // and back; as many unless given
  std::string mode = "triangular";             // "triangular2" halves the range each cycle, "exp_range" scales it by gamma^step
  double gamma = 1;
  std::function<double(double)> scale_fn = {};  // in the place of a mode: what the range is times, from 0 to 1
  std::string scale_mode = "cycle";             // whether scale_fn is given the cycle's number, from 1 on, or the step's ("iterations")
  bool cycle_momentum = true;                   // momentum, or beta1, falls while the rate rises
  double base_momentum = 0.8, max_momentum = 0.9;
};

/// From `base_lr` up to `max_lr` and down again, one step a batch. Smith, "Cyclical learning rates".
class CyclicLR final : public Schedule {
 public:
  CyclicLR(Optimizer& optimizer, double base_lr, double max_lr, const CyclicOptions& options = {}, int64_t last_epoch = -1,
           Site = Site::here());
  void step(Site = Site::here()) override;

 private:
  double first(double base) const override { return at(base, max_lr_); }
  double next(double lr, double base) const override;
  void restart() override;
  double at(double low, double high) const;
  void set_momentum();
  double max_lr_;
  CyclicOptions options_;
  double up_, down_;
};

}  // namespace tandem::optim
