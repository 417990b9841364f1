// train::Module: a model that also knows its loss and its optimizer, which is all a Trainer needs of it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "nn/module.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "train/figures.h"

namespace tandem::train {

/// Named means over a batch, each a tensor of one element; the Trainer averages them over the batches.
using Metrics = std::vector<std::pair<std::string, Tensor>>;

/// From an input to a model's output.
using Predict = std::function<Tensor(const Tensor&, Site)>;

/// A schedule, and when it steps.
class Scheduled {
 public:
  /// How often it steps.
  enum class Each { Epoch, Step };

  /// After each epoch, or after each step of the optimizer.
  template <std::derived_from<optim::Schedule> S>
  Scheduled(std::shared_ptr<S> schedule, Each each = Each::Epoch) : schedule_(std::move(schedule)), each_(each) {}
  /// After each epoch, by what the figure `monitor` has become.
  Scheduled(std::shared_ptr<optim::ReduceLROnPlateau> plateau, std::string monitor = "val_loss")
      : plateau_(std::move(plateau)), monitor_(std::move(monitor)) {}

  /// Whether it steps with the optimizer, not with the epoch.
  [[nodiscard]] bool each_step() const { return each_ == Each::Step; }
  /// Error where the figure it watches is not among `figures`.
  void step(const Figures& figures);
  /// What a resumed run needs.
  [[nodiscard]] StateDict state_dict() const { return schedule_ ? schedule_->state_dict() : plateau_->state_dict(); }
  /// Goes on from what state_dict gave.
  void load_state_dict(const StateDict& state) { schedule_ ? schedule_->load_state_dict(state) : plateau_->load_state_dict(state); }

 private:
  std::shared_ptr<optim::Schedule> schedule_;
  std::shared_ptr<optim::ReduceLROnPlateau> plateau_;
  std::string monitor_;
  Each each_ = Each::Epoch;
};

/// Derive, name the parts in `fields`, give `forward`, `loss` and `configure_optimizers`. Copying it shares the parameters, as with any
/// nn::Module.
struct Module : nn::Module {
  /// How far `output` is from `target`: one number, of which the gradient is taken. Error unless overridden (or `training_step` is).
  virtual Tensor loss(const Tensor& output, const Tensor& target);
  /// The optimizer of the parameters. Error unless overridden.
  virtual std::unique_ptr<optim::Optimizer> configure_optimizers();
  /// The schedules of the optimizer's rates, for a run of `total_steps` steps; none unless overridden:
  /// `return {std::make_shared<optim::StepLR>(optimizer, 1, 0.7)};`.
  virtual std::vector<Scheduled> configure_schedules(optim::Optimizer& optimizer, int64_t total_steps);
  /// The loss of a batch; unless overridden, of `predict` of its input against its target.
  virtual Tensor training_step(const data::Batch& batch);
  /// What is to be known of a batch it does not learn from: "val_loss" unless overridden.
  virtual Metrics validation_step(const data::Batch& batch);

  /// The model's output; while a Trainer runs, computed on all GPUs it uses. What steps call instead of `forward`.
  Tensor predict(const Tensor& input, Site site = Site::here());

 private:
  friend class PredictGuard;
  // Where predict goes while a Trainer runs. It belongs to this object: a copy computes by itself again.
  struct Redirection {
    const Predict* target = nullptr;
    Redirection() = default;
    Redirection(const Redirection&) {}
    Redirection& operator=(const Redirection&) { return *this; }
  };
  Redirection predict_;
};

/// Sends a module's `predict` elsewhere until the end of the scope. For the Trainer.
class PredictGuard {
 public:
  PredictGuard(Module& module, const Predict& predict) : module_(module), before_(target(module)) { module_.predict_.target = &predict; }
  ~PredictGuard() { module_.predict_.target = before_; }
  /// Where it goes; nullptr: to the module itself.
  [[nodiscard]] static const Predict* target(const Module& module) { return module.predict_.target; }
  PredictGuard(const PredictGuard&) = delete;
  PredictGuard& operator=(const PredictGuard&) = delete;

 private:
  Module& module_;
  const Predict* before_;
};

/// The share of rows of `output` (n, classes) whose largest number stands at the class that `target` (n) names: float64, one element, on
/// the device.
[[nodiscard]] Tensor accuracy(const Tensor& output, const Tensor& target, Site site = Site::here());

/// A module that sorts into classes: cross-entropy as its loss, "val_acc" beside "val_loss".
struct Classifier : Module {
  Tensor loss(const Tensor& output, const Tensor& target) override;
  Metrics validation_step(const data::Batch& batch) override;
};

}  // namespace tandem::train
