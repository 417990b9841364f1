#include "optim/schedule_cycles.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"

namespace tandem::optim {

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult, double eta_min,
                                                         int64_t last_epoch, Site /*site*/)
    : Schedule("CosineAnnealingWarmRestarts", optimizer), first_period_(T_0), growth_(T_mult), eta_min_(eta_min) {
  if (T_0 <= 0) fail("[CosineAnnealingWarmRestarts] Expected positive integer T_0, but got ", T_0);
  if (T_mult < 1) fail("[CosineAnnealingWarmRestarts] Expected integer T_mult >= 1, but got ", T_mult);
  if (last_epoch == -1) restart();
  else begin(last_epoch);
}
double CosineAnnealingWarmRestarts::next(double, double base) const {
  int64_t period = first_period_, epoch = epoch_;
  if (growth_ == 1) epoch %= period;
  else
    for (; epoch >= period; period *= growth_) epoch -= period;
  return eta_min_ + (base - eta_min_) * (1 + std::cos(std::numbers::pi * static_cast<double>(epoch) / static_cast<double>(period))) / 2;
}

CyclicLR::CyclicLR(Optimizer& optimizer, double base_lr, double max_lr, const CyclicOptions& options, int64_t last_epoch, Site /*site*/)
    : Schedule("CyclicLR", optimizer),
      max_lr_(max_lr),
      options_(options),
      up_(static_cast<double>(options.step_size_up)),
      down_(static_cast<double>(options.step_size_down.value_or(options.step_size_up))) {
  if (!(up_ > 0 && down_ > 0)) fail("[CyclicLR] step_size_up and step_size_down must be positive, not ", up_, " and ", down_);
  if (!options_.scale_fn) {
    const double gamma = options_.gamma;
    if (options_.mode == "triangular") options_.scale_fn = [](double) { return 1.0; };
    else if (options_.mode == "triangular2") options_.scale_fn = [](double cycle) { return 1 / std::pow(2.0, cycle - 1); };
    else if (options_.mode == "exp_range") options_.scale_fn = [gamma](double step) { return std::pow(gamma, step); };
    else fail("[CyclicLR] mode is invalid and scale_fn is None: give triangular, triangular2 or exp_range, not ", options_.mode);
    options_.scale_mode = options_.mode == "exp_range" ? "iterations" : "cycle";
  }
  if (options_.scale_mode != "cycle" && options_.scale_mode != "iterations")
    fail("[CyclicLR] scale_mode must be cycle or iterations, not ", options_.scale_mode);
  for (auto& group : optimizer.param_groups()) {
    if (options_.cycle_momentum && !group.momentum)
      fail("[CyclicLR] optimizer must support momentum or beta1 with `cycle_momentum` option enabled, which ", optimizer.name(),
           " does not: ", Hint("set cycle_momentum = false", "set cycle_momentum=False"));
    group.initial_lr = base_lr;
  }
  if (last_epoch == -1) restart();
  else begin(last_epoch);
  set_momentum();
}
double CyclicLR::at(double low, double high) const {
  const double whole = up_ + down_, step = static_cast<double>(epoch_);
  const double cycle = std::floor(1 + step / whole), share = 1 + step / whole - cycle, peak = up_ / whole;
  const double height = (high - low) * (share <= peak ? share / peak : (share - 1) / (peak - 1));
  return low + height * options_.scale_fn(options_.scale_mode == "cycle" ? cycle : step);
}
double CyclicLR::next(double, double base) const { return first(base); }
void CyclicLR::set_momentum() {
  if (!options_.cycle_momentum) return;
  // The other way round: high where the rate is low.
  const double momentum = options_.max_momentum + options_.base_momentum - at(options_.base_momentum, options_.max_momentum);
  for (auto& group : optimizer_.param_groups()) *group.momentum = momentum;
}
void CyclicLR::restart() {
  Schedule::restart();
  set_momentum();
}
void CyclicLR::step(Site site) {
  Schedule::step(site);
  set_momentum();
}

}  // namespace tandem::optim
