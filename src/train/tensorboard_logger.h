// The curves of a run for TensorBoard, while it runs.
#pragma once

#include <string>

#include "train/callback.h"
#include "train/summary_writer.h"

namespace tandem::train {

/// A callback that writes each epoch's figures and the learning rate into an event file in `log_dir`, by steps of the optimizer. As
/// lightning's TensorBoardLogger.
class TensorBoardLogger final : public Callback {
 public:
  explicit TensorBoardLogger(std::string log_dir) : writer_(std::move(log_dir)) {}
  void on_epoch_end(Trainer& trainer, Module& model, const Figures& figures) override;
  /// For what else is to be seen there.
  [[nodiscard]] SummaryWriter& writer() { return writer_; }

 private:
  SummaryWriter writer_;
};

}  // namespace tandem::train
