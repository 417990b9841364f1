// Loss scaling for float16: gradients that would be rounded to 0 are computed of a loss that is multiplied first, and divided again before
// the optimizer sees them. As torch.amp.GradScaler.
//
//   td::amp::GradScaler scaler;
//   {
//     const auto guard = td::autocast("cuda");
//     loss = td::cross_entropy(net(x), y);
//   }
//   optimizer.zero_grad();
//   scaler.scale(loss).backward();
//   scaler.step(optimizer);
//   scaler.update();
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "optim/optimizer.h"
#include "tensor/state_dict.h"
#include "tensor/tensor.h"

namespace tandem::amp {

/// Options of GradScaler, in this order.
struct GradScalerOptions {
  double init_scale = 65536;    // what the loss is multiplied by at first
  double growth_factor = 2;     // and what that is multiplied by after growth_interval steps without an infinite gradient
  double backoff_factor = 0.5;  // and after a step with one
  int64_t growth_interval = 2000;
  bool enabled = true;  // false: all of it does nothing, and step is the optimizer's
};

/// Scales losses, and leaves out the steps whose gradients are infinite or nan. One for all losses and optimizers of a training loop.
class GradScaler {
 public:
  /// Error for numbers with which the scale would not grow or not shrink.
  explicit GradScaler(const GradScalerOptions& options = {}, Site = Site::here());

  /// The outputs times the scale, for backward.
  [[nodiscard]] Tensor scale(const Tensor& outputs, Site site = Site::here()) const;
  [[nodiscard]] std::vector<Tensor> scale(const std::vector<Tensor>& outputs, Site site = Site::here()) const;
  /// Divides the gradients of the optimizer's parameters by the scale, and looks for infinite ones, on their device and without waiting.
  /// For who looks at gradients before the step, as clip_grad_norm_. Error where it was called before, or after step, since the last
  /// update, and for gradients of float16: parameters stay float32 under autocast.
  void unscale_(optim::Optimizer& optimizer, Site site = Site::here());
  /// unscale_ where it was not called, and the optimizer's step unless a gradient is infinite or nan; whether it was taken. Waits for each
  /// device that has gradients, once. Where gradients are divided among ranks, all ranks take the step or none does, and every rank calls
  /// it. Error where it was called since the last update, and where no parameter has a gradient.
  bool step(optim::Optimizer& optimizer, Site site = Site::here());
  /// The scale of the next iteration, or `new_scale`. After all steps of one. Error where there was no step.
  void update(std::optional<double> new_scale = {}, Site site = Site::here());

  /// What losses are multiplied by; 1 where it is not enabled.
  [[nodiscard]] double get_scale() const { return options_.enabled ? scale_ : 1; }
  /// What the scale is multiplied by when it grows.
  [[nodiscard]] double get_growth_factor() const { return options_.growth_factor; }
  /// Sets it: above 1.
  void set_growth_factor(double factor) { options_.growth_factor = factor; }
  /// And after a step with infinite gradients.
  [[nodiscard]] double get_backoff_factor() const { return options_.backoff_factor; }
  /// Sets it: between 0 and 1.
  void set_backoff_factor(double factor) { options_.backoff_factor = factor; }
  /// The steps in a row without an infinite gradient after which the scale grows.
  [[nodiscard]] int64_t get_growth_interval() const { return options_.growth_interval; }
  /// Sets them: at least 1.
  void set_growth_interval(int64_t steps) { options_.growth_interval = steps; }
  /// Whether it does anything.
  [[nodiscard]] bool is_enabled() const { return options_.enabled; }

  /// The scale, its factors, and the steps since it last changed, each a tensor; empty where it is not enabled. To be taken after update.
  [[nodiscard]] StateDict state_dict() const;
  /// Error where something is missing; nothing has changed then. Does nothing where it is not enabled.
  void load_state_dict(const StateDict& state, Site site = Site::here());

 private:
  enum class Stage : uint8_t { Ready, Unscaled, Stepped };
  /// What was done with an optimizer since the last update.
  struct Done {
    Stage stage = Stage::Ready;
    /// Of the gradients of each device, infinite or nan where one of them is. Where ranks have parts of them, the largest norm of a
    /// rank, below zero where none has a gradient.
    std::vector<Tensor> norms;
    /// What they say, once they are read.
    struct Found {
      bool gradients = false;  // there are some
      bool infinite = false;   // and one is infinite or nan
    };
    std::optional<Found> found = {};
  };

  void unscale(Done& done, optim::Optimizer& optimizer, Site site) const;
  [[nodiscard]] static Done::Found found(Done& done, Site site);

  GradScalerOptions options_;
  double scale_;
  int64_t growth_tracker_ = 0;
  std::map<const optim::Optimizer*, Done> done_;
};

}  // namespace tandem::amp
