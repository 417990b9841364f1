// What is told of a training run while it runs, and may end it: callbacks, and the two that most runs want.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/site.h"
#include "train/figures.h"

namespace tandem::train {

struct Module;
class Trainer;

/// Derive and override what is of interest. As lightning's Callback. What is thrown in one ends the run and comes out of fit.
class Callback {
 public:
  virtual ~Callback() = default;

  /// The model is where it trains, its optimizer is there, and a checkpoint has been read.
  virtual void on_fit_start(Trainer&, Module&) {}
  /// An epoch begins, before its first batch.
  virtual void on_train_epoch_start(Trainer&, Module&) {}
  /// Batch `batch` of the epoch is queued; its loss is not known yet.
  virtual void on_train_batch_end(Trainer&, Module&, int64_t batch) { (void)batch; }
  /// An epoch is done and judged: train_loss and what validation gave.
  virtual void on_epoch_end(Trainer&, Module&, const Figures& figures) { (void)figures; }
  /// The run ends, by itself or because it was interrupted; not where an error ends it.
  virtual void on_fit_end(Trainer&, Module&) {}
  /// An error ends the run.
  virtual void on_exception(Trainer&, Module&, const std::exception& error) { (void)error; }

  /// What must be in a checkpoint for a resumed run to equal one that never stopped, as text.
  [[nodiscard]] virtual std::string state() const { return {}; }
  /// Goes on from what state() gave.
  virtual void load_state(const std::string& state) { (void)state; }
};

/// A figure that is to fall, or to rise.
struct Monitor {
  std::string monitor = "val_loss";
  bool maximize = false;
  double min_delta = 0;  // less than this is no improvement
};

namespace detail {

/// The best value of a figure so far.
class Best {
 public:
  explicit Best(Monitor monitor) : monitor_(std::move(monitor)) {}
  /// Takes the figures of an epoch in; whether they are the best so far. Error, with the names there are, where the figure is missing.
  bool update(const char* op, const Figures& figures);
  [[nodiscard]] const Monitor& monitor() const { return monitor_; }
  [[nodiscard]] double value() const { return value_; }
  void set_value(double value) { value_ = value; }

 private:
  Monitor monitor_;
  double value_ = std::numeric_limits<double>::quiet_NaN();  // none yet
};

}  // namespace detail

struct EarlyStoppingOptions : Monitor {
  int patience = 3;  // epochs without improvement before the run ends
};

/// Ends a run whose figure has not become better for `patience` epochs. As lightning's EarlyStopping.
class EarlyStopping final : public Callback {
 public:
  /// Error for a negative patience or min_delta.
  explicit EarlyStopping(EarlyStoppingOptions options = {}, Site = Site::here());
  void on_epoch_end(Trainer& trainer, Module& model, const Figures& figures) override;
  [[nodiscard]] std::string state() const override;
  void load_state(const std::string& state) override;
  /// The figure's best value; NaN before the first epoch.
  [[nodiscard]] double best() const { return best_.value(); }

 private:
  int patience_, waited_ = 0;
  detail::Best best_;
};

struct ModelCheckpointOptions : Monitor {
  std::string path = "best.safetensors";
};

/// Keeps the checkpoint of the best epoch. As lightning's ModelCheckpoint with save_top_k = 1.
class ModelCheckpoint final : public Callback {
 public:
  explicit ModelCheckpoint(ModelCheckpointOptions options = {}, Site = Site::here());
  void on_epoch_end(Trainer& trainer, Module& model, const Figures& figures) override;
  [[nodiscard]] std::string state() const override;
  void load_state(const std::string& state) override;
  /// The best figure so far; nothing before the first.
  [[nodiscard]] double best() const { return best_.value(); }

 private:
  std::string path_;
  detail::Best best_;
};

}  // namespace tandem::train
