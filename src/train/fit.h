// One call of Trainer.fit: what it has at hand, and the loop. For the library.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/any_module.h"
#include "optim/grad_scaler.h"
#include "optim/optimizer.h"
#include "parallel/data_parallel.h"
#include "train/evaluate.h"
#include "train/interrupt.h"
#include "train/live_board.h"
#include "train/losses.h"
#include "train/notes.h"
#include "train/progress_bar.h"
#include "train/ranks.h"
#include "train/trainer.h"

namespace tandem::train::detail {

class Fit {
 public:
  /// Brings model, data and optimizer together and reads the checkpoint where the run is to go on. `progress` is the trainer's.
  Fit(Trainer& trainer, Progress& progress, const Ranks& ranks, Module& model, nn::Copier copier, const DataModule& data, Site site);
  void run();
  void save(const std::string& path) const;
  [[nodiscard]] optim::Optimizer& optimizer() { return *optimizer_; }

 private:
  void load();
  /// The run's checkpoint, by rank 0 for all.
  void save_run();
  /// The epoch's batches from where it stands; whether they were all done.
  bool train_epoch();
  void train_batch(const data::Batch& batch);
  /// Tells the bar of the batches that are done by now.
  void show();
  /// training_step, and a warning for each part that the model computes with and does not name.
  Tensor first_training_step(const data::Batch& batch);
  void step();
  /// The model's output, computed on all GPUs and in the precision asked for.
  Tensor forward(const Tensor& input, Site from);
  Tensor computed(const Tensor& input, Site from);
  /// What validation gives; nothing where the run was interrupted in it.
  std::optional<Figures> judge();
  void end_epoch(const Figures& validated);
  void draw_losses();
  void step_schedules(bool each_step, const Figures& figures);
  /// Whether the run is to end here, on any rank.
  [[nodiscard]] bool should_stop() const;
  /// The halves' means over all ranks.
  [[nodiscard]] std::array<LossMean, 2> all_halves() const;
  /// What the first Ctrl-C is answered with at once; empty where nobody listens.
  [[nodiscard]] std::string answer_to_interrupt() const;
  void say_interrupted();
  template <class F>
  void tell(F&& f) {
    for (const auto& callback : callbacks_) f(*callback);
  }

  Trainer& trainer_;
  Progress& progress_;
  const TrainerOptions& options_;
  const Ranks& ranks_;
  Module& model_;
  nn::Copier copier_;
  Device device_;
  Site site_;
  std::string checkpoint_path_;  // empty: nowhere
  std::vector<std::shared_ptr<Callback>> callbacks_;
  data::DataLoader loader_;
  std::optional<data::DataLoader> val_loader_;
  int64_t batches_;  // an epoch, the limit taken into account
  amp::GradScaler scaler_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::vector<Scheduled> schedules_;
  std::vector<Tensor> parameters_;
  std::optional<parallel::DataParallel<>> parallel_;
  std::optional<parallel::detail::Replica> replica_;
  std::vector<double> weights_;  // of the epoch's batches on this rank
  std::optional<ProgressBar> bar_;
  std::optional<LiveBoard> picture_;
  Interrupt interrupt_;
  bool looked_at_parts_ = false;

  std::optional<Losses> losses_;  // of the epoch that runs
  std::deque<int64_t> samples_;   // of the batches that the bar has not been told of
  int64_t batch_ = 0;             // done of it
  Figures last_figures_;          // of the last validation, shown while the next epoch runs
};

}  // namespace tandem::train::detail
