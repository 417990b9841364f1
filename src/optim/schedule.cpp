#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "ops/creation.h"

namespace tandem::optim {
namespace {

constexpr double kPi = std::numbers::pi;

std::vector<double> rates_of(Optimizer& optimizer) {
  std::vector<double> rates;
  for (const auto& group : optimizer.param_groups()) rates.push_back(group.lr);
  return rates;
}

int64_t count_of(const StateDict& state, const char* name, const std::string& key) {
  const Tensor* value = state.find(key);
  if (!value) fail("[", name, ".load_state_dict] Missing key in state dict: ", key);
  return value->item<int64_t>();
}

/// The dictionaries of schedules that another one goes through.
void add_states(StateDict& state, const std::vector<std::shared_ptr<Schedule>>& schedules) {
  for (size_t i = 0; i < schedules.size(); ++i) state.add(str("schedulers.", i, "."), schedules[i]->state_dict());
}
void load_states(const StateDict& state, const std::vector<std::shared_ptr<Schedule>>& schedules) {
  for (size_t i = 0; i < schedules.size(); ++i) schedules[i]->load_state_dict(state.under(str("schedulers.", i, ".")));
}

}  // namespace

Schedule::Schedule(const char* name, Optimizer& optimizer) : name_(name), optimizer_(optimizer) {
  for (auto& group : optimizer.param_groups()) {
    began_before_ &= group.initial_lr.has_value();
    if (!group.initial_lr) group.initial_lr = group.lr;
  }
}

void Schedule::step(Site /*site*/) {
  ++epoch_;
  for (auto& group : optimizer_.param_groups()) group.lr = next(group.lr, group.initial_lr.value_or(group.lr));
}

void Schedule::restart() {
  epoch_ = 0;
  for (auto& group : optimizer_.param_groups()) group.lr = first(group.initial_lr.value_or(group.lr));
}

void Schedule::begin(int64_t last_epoch) {
  if (last_epoch == -1) {  // from the rate that a schedule before this one may have set
    for (auto& group : optimizer_.param_groups()) group.lr = first(group.lr);
    return;
  }
  if (last_epoch < -1) fail("[", name_, "] last_epoch must be the epoch to go on behind, or -1 to begin, not ", last_epoch);
  if (!began_before_)
    fail("[", name_, "] last_epoch is ", last_epoch,
         ", but a group has no initial_lr: load the optimizer's state dict first, or give last_epoch = -1");
  epoch_ = last_epoch;
  Schedule::step();
}

std::vector<double> Schedule::get_last_lr() const { return rates_of(optimizer_); }

StateDict Schedule::state_dict() const {
  StateDict state;
  state["last_epoch"] = tensor(epoch_, kInt64);
  return state;
}

void Schedule::load_state_dict(const StateDict& state) { epoch_ = count_of(state, name_, "last_epoch"); }

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma, int64_t last_epoch, Site /*site*/)
    : Schedule("StepLR", optimizer), step_size_(step_size), gamma_(gamma) {
  if (step_size <= 0)
    fail("[StepLR] step_size must be positive, not ", step_size, ": give the epochs from one step to the next, such as 10");
  begin(last_epoch);
}
double StepLR::next(double lr, double) const { return epoch_ % step_size_ == 0 ? lr * gamma_ : lr; }

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma, int64_t last_epoch, Site /*site*/)
    : Schedule("MultiStepLR", optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  begin(last_epoch);
}
double MultiStepLR::next(double lr, double) const {
  return lr * std::pow(gamma_, static_cast<double>(std::count(milestones_.begin(), milestones_.end(), epoch_)));
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma, int64_t last_epoch, Site /*site*/)
    : Schedule("ExponentialLR", optimizer), gamma_(gamma) {
  begin(last_epoch);
}
double ExponentialLR::next(double lr, double) const { return lr * gamma_; }

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters, int64_t last_epoch, Site /*site*/)
    : Schedule("ConstantLR", optimizer), factor_(factor), total_(total_iters) {
  if (!(factor >= 0 && factor <= 1)) fail("[ConstantLR] Constant multiplicative factor should be between 0 and 1, not ", factor);
  begin(last_epoch);
}
double ConstantLR::next(double lr, double) const { return epoch_ == total_ ? lr / factor_ : lr; }

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min, int64_t last_epoch, Site /*site*/)
    : Schedule("CosineAnnealingLR", optimizer), period_(static_cast<double>(T_max)), eta_min_(eta_min) {
  if (T_max <= 0) fail("[CosineAnnealingLR] T_max must be positive, not ", T_max, ": give the epochs until the lowest rate");
  begin(last_epoch);
}
double CosineAnnealingLR::next(double lr, double base) const {
  // From the rate before, so that other schedules may change it, too; where that was eta_min, the way up begins.
  const auto epoch = static_cast<double>(epoch_);
  if (std::fmod(epoch - 1 - period_, 2 * period_) == 0) return lr + (base - eta_min_) * (1 - std::cos(kPi / period_)) / 2;
  return (1 + std::cos(kPi * epoch / period_)) / (1 + std::cos(kPi * (epoch - 1) / period_)) * (lr - eta_min_) + eta_min_;
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, int64_t total_iters, int64_t last_epoch, Site /*site*/)
    : Schedule("LinearLR", optimizer), start_(start_factor), end_(end_factor), total_(total_iters) {
  if (!(start_factor > 0 && start_factor <= 1)) fail("[LinearLR] start_factor must be in (0, 1], not ", start_factor);
  if (!(end_factor >= 0 && end_factor <= 1)) fail("[LinearLR] end_factor must be in [0, 1], not ", end_factor);
  begin(last_epoch);
}
double LinearLR::next(double lr, double) const {
  if (epoch_ > total_) return lr;
  return lr * (1 + (end_ - start_) / (static_cast<double>(total_) * start_ + static_cast<double>(epoch_ - 1) * (end_ - start_)));
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power, int64_t last_epoch, Site /*site*/)
    : Schedule("PolynomialLR", optimizer), total_(total_iters), power_(power) {
  if (total_iters <= 0) fail("[PolynomialLR] total_iters must be positive, not ", total_iters, ": give the epochs until the rate is 0");
  begin(last_epoch);
}
double PolynomialLR::next(double lr, double) const {
  if (epoch_ > total_) return lr;
  const auto epoch = static_cast<double>(epoch_), total = static_cast<double>(total_);
  return lr * std::pow((1 - epoch / total) / (1 - (epoch - 1) / total), power_);
}

LambdaLR::LambdaLR(Optimizer& optimizer, std::function<double(int64_t)> factor, int64_t last_epoch, Site /*site*/)
    : Schedule("LambdaLR", optimizer), factor_(std::move(factor)) {
  if (!factor_) fail("[LambdaLR] needs a function of the epoch");
  if (last_epoch == -1) restart();  // from the first rate always
  else begin(last_epoch);
}
double LambdaLR::next(double, double base) const { return base * factor_(epoch_); }

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::function<double(int64_t)> factor, int64_t last_epoch, Site /*site*/)
    : Schedule("MultiplicativeLR", optimizer), factor_(std::move(factor)) {
  if (!factor_) fail("[MultiplicativeLR] needs a function of the epoch");
  begin(last_epoch);
}
double MultiplicativeLR::next(double lr, double) const { return lr * factor_(epoch_); }

OneCycleLR::OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps, const OneCycleOptions& options, Site /*site*/)
    : Schedule("OneCycleLR", optimizer), max_lr_(max_lr), total_(total_steps), options_(options) {
  if (total_steps <= 0) fail("[OneCycleLR] total_steps must be positive, not ", total_steps);
  if (!(options.pct_start >= 0 && options.pct_start <= 1)) fail("[OneCycleLR] pct_start must be in [0, 1], not ", options.pct_start);
  for (auto& group : optimizer.param_groups()) {
    if (options.cycle_momentum && !group.momentum)
      fail("[OneCycleLR] ", optimizer.name(),
           " has neither momentum nor betas: ", Hint("set cycle_momentum = false", "set cycle_momentum=False"));
    group.initial_lr = max_lr / options.div_factor;
  }
  restart();
}
double OneCycleLR::at(double low, double high, double last) const {
  const auto total = static_cast<double>(total_), step = static_cast<double>(std::min(epoch_, total_ - 1));
  const auto between = [&](double from, double to, double begin, double end) {
    const double share = end > begin ? (step - begin) / (end - begin) : 1;
    return options_.cosine ? to + (from - to) / 2 * (1 + std::cos(kPi * share)) : from + (to - from) * share;
  };
  const double top = options_.pct_start * total - 1;
  if (step <= top) return between(low, high, 0, top);
  if (!options_.three_phase) return between(high, last, top, total - 1);
  const double bottom = 2 * options_.pct_start * total - 2;
  return step <= bottom ? between(high, low, top, bottom) : between(low, last, bottom, total - 1);
}
void OneCycleLR::set_momentum() {
  if (!options_.cycle_momentum) return;
  for (auto& group : optimizer_.param_groups()) *group.momentum = at(options_.max_momentum, options_.base_momentum, options_.max_momentum);
}
double OneCycleLR::first(double base) const { return at(base, max_lr_, base / options_.final_div_factor); }
double OneCycleLR::next(double, double base) const { return first(base); }
void OneCycleLR::restart() {
  Schedule::restart();
  set_momentum();
}
void OneCycleLR::step(Site site) {
  if (epoch_ >= total_) fail("[OneCycleLR] Tried to step ", epoch_ + 1, " times. The specified number of total steps is ", total_);
  Schedule::step(site);
  set_momentum();
}

SequentialLR::SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<Schedule>> schedules, std::vector<int64_t> milestones,
                           Site /*site*/)
    : Schedule("SequentialLR", optimizer), schedules_(std::move(schedules)), milestones_(std::move(milestones)) {
  if (schedules_.empty()) fail("[SequentialLR] expects at least one schedule");
  if (milestones_.size() + 1 != schedules_.size())
    fail("[SequentialLR] expects one milestone less than schedules, but got ", milestones_.size(), " milestones and ", schedules_.size(),
         " schedules");
  for (const auto& schedule : schedules_) {
    if (!schedule) fail("[SequentialLR] a schedule is a null pointer");
    if (&schedule->optimizer_ != &optimizer) fail("[SequentialLR] all schedules must belong to the same optimizer");
  }
  schedules_.front()->restart();
}
size_t SequentialLR::current() const {
  return static_cast<size_t>(std::upper_bound(milestones_.begin(), milestones_.end(), epoch_) - milestones_.begin());
}
void SequentialLR::step(Site /*site*/) {
  ++epoch_;
  const size_t now = current();
  if (now > 0 && milestones_[now - 1] == epoch_) schedules_[now]->restart();
  else schedules_[now]->step();
}
StateDict SequentialLR::state_dict() const {
  StateDict state = Schedule::state_dict();
  add_states(state, schedules_);
  return state;
}
void SequentialLR::load_state_dict(const StateDict& state) {
  Schedule::load_state_dict(state);
  load_states(state, schedules_);
}

namespace {
Optimizer& optimizer_of(const std::vector<std::shared_ptr<Schedule>>& schedules, Optimizer& (*get)(Schedule&)) {
  if (schedules.empty()) fail("[ChainedScheduler] expects at least one schedule");
  for (const auto& schedule : schedules) {
    if (!schedule) fail("[ChainedScheduler] a schedule is a null pointer");
    if (&get(*schedule) != &get(*schedules.front())) fail("[ChainedScheduler] all schedules must belong to the same optimizer");
  }
  return get(*schedules.front());
}
}  // namespace
ChainedScheduler::ChainedScheduler(std::vector<std::shared_ptr<Schedule>> schedules, Site /*site*/)
    : Schedule("ChainedScheduler", optimizer_of(schedules, [](Schedule& one) -> Optimizer& { return one.optimizer_; })),
      schedules_(std::move(schedules)) {}
void ChainedScheduler::step(Site site) {
  ++epoch_;
  for (const auto& schedule : schedules_) schedule->step(site);
}
StateDict ChainedScheduler::state_dict() const {
  StateDict state = Schedule::state_dict();
  add_states(state, schedules_);
  return state;
}
void ChainedScheduler::load_state_dict(const StateDict& state) {
  Schedule::load_state_dict(state);
  load_states(state, schedules_);
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& options, Site /*site*/)
    : optimizer_(optimizer), options_(options), best_((options.maximize ? -1 : 1) * std::numeric_limits<double>::infinity()) {
  if (!(options.factor < 1)) fail("[ReduceLROnPlateau] Factor should be < 1.0, not ", options.factor);
}
bool ReduceLROnPlateau::better(double metric) const {
  const double sign = options_.maximize ? 1 : -1;
  if (options_.relative) return sign * metric > sign * best_ * (1 + sign * options_.threshold);
  return sign * metric > sign * best_ + options_.threshold;
}
void ReduceLROnPlateau::step(double metric) {
  if (better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= options_.patience) return;
  for (auto& group : optimizer_.param_groups()) {
    const double lower = std::max(group.lr * options_.factor, options_.min_lr);
    if (group.lr - lower > options_.eps) group.lr = lower;
  }
  cooldown_left_ = options_.cooldown;
  bad_epochs_ = 0;
}
std::vector<double> ReduceLROnPlateau::get_last_lr() const { return rates_of(optimizer_); }
StateDict ReduceLROnPlateau::state_dict() const {
  StateDict state;
  state["best"] = tensor(best_, kFloat64);
  state["num_bad_epochs"] = tensor(bad_epochs_, kInt64);
  state["cooldown_counter"] = tensor(cooldown_left_, kInt64);
  return state;
}
void ReduceLROnPlateau::load_state_dict(const StateDict& state) {
  constexpr const char* kName = "ReduceLROnPlateau";
  const int64_t bad = count_of(state, kName, "num_bad_epochs"), cooldown = count_of(state, kName, "cooldown_counter");
  const Tensor* best = state.find("best");
  if (!best) fail("[ReduceLROnPlateau.load_state_dict] Missing key in state dict: best");
  best_ = best->item<double>();
  bad_epochs_ = bad;
  cooldown_left_ = cooldown;
}

}  // namespace tandem::optim
