// Trainer: the loop over epochs and batches, on the CPU, one GPU or several, with a progress bar, curves and checkpoints.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "nn/any_module.h"
#include "train/board.h"
#include "train/callback.h"
#include "train/data_module.h"
#include "train/memory_recorder.h"
#include "train/metrics.h"
#include "train/module.h"
#include "train/trainer_precision.h"

namespace tandem::train {

namespace detail {
class Fit;
}

struct TrainerOptions {
  int max_epochs = 1;
  int64_t max_steps = -1;                         // steps of the optimizer after which the run ends; negative: no such end
  int num_gpus = 0;                               // GPUs to train on, data-parallel from two on; as many as there are where there are fewer
  int num_nodes = 1;                              // servers that a launcher must have started this program on
  double gradient_clip_val = 0;                   // the most the gradients' norm may be; 0 leaves them as they are
  int accumulate = 1;                             // batches whose gradients' mean makes one step
  TrainerPrecision precision = {};                // what the model computes in: "bf16-mixed", "16-mixed", or a dtype such as kBFloat16
  int64_t limit_train_batches = -1;               // batches an epoch at most; negative: all
  int64_t limit_val_batches = -1;                 // the same for validation
  std::string checkpoint_dir = {};                // where checkpoint.safetensors is written after each epoch; empty: nowhere
  int64_t checkpoint_every = 0;                   // and after every so many steps; 0: only after epochs
  std::map<std::string, std::string> notes = {};  // goes into the checkpoint's metadata, for programs that read it
  bool resume = false;                            // go on from that checkpoint where there is one
  std::optional<EarlyStoppingOptions> early_stopping = {};
  std::vector<std::shared_ptr<Callback>> callbacks = {};
  NamedMetrics metrics = {};          // figures of what `predict` gives for the validation data: {{"val_f1", std::make_shared<F1Score>()}}
  bool quiet = false;                 // no progress bar
  bool plot = false;                  // draw the curves under the progress bar, where that is a terminal
  std::optional<uint64_t> seed = {};  // manual_seed at the start of fit
  std::ostream* output = nullptr;     // where progress goes, in plain lines; the terminal (standard error) unless given
};

namespace detail {
/// How far a run has come: its loop writes it, the Trainer shows it.
struct Progress {
  std::vector<Device> devices = {};
  ProgressBoard board = {};
  MemoryRecorder memory{devices};
  int epoch = 0;
  int64_t step = 0;
  ProgressBoard figures = {};    // of each epoch
  double seconds_before = 0;     // that the run took before a resumption
  double began = 0, ended = -1;  // of this fit, by seconds_now; it has not ended where that is negative
  bool stop = false, interrupted = false;
};
}  // namespace detail

/// Trains a model as the Trainer of "Dive into Deep Learning" does. Per batch: move it, loss, zero_grad, backward, clip, step; after each
/// epoch an evaluation without gradients. Waits for no result within an epoch: losses come home a few batches late.
///
/// Several ranks (of `tandem launch`, mpirun, or a process group that is there) divide each batch, average their gradients as
/// DistributedDataParallel does, and so train as one process would; each has one GPU where num_gpus is not 0. Figures are those over all
/// ranks. Rank 0 alone writes, shows progress and calls callbacks; to resume, all read its checkpoint.
class Trainer {
 public:
  /// Error for numbers that make no sense, and for `resume` without a checkpoint_dir.
  explicit Trainer(TrainerOptions options = {}, Site = Site::here());

  /// Trains `model` in place until max_epochs are done. It is moved to the first GPU used (to the CPU without one) and stays there.
  /// Interrupted and resumed, weights and curves are those of a run that never stopped, to the bit. Ctrl-C (and SIGTERM) ends the run after
  /// the batch under way, with a checkpoint; a second one ends the process. Error with the batch's number where a loss is not finite.
  template <class M>
  requires std::derived_from<M, Module>
  void fit(M& model, const DataModule& data, Site site = Site::here()) {
    nn::detail::check_exact_type("Trainer.fit", model, typeid(M));
    run(model, nn::copier_of<M>(), data, site);
  }
  /// For those who give a module that knows neither its loss nor its optimizer.
  template <class M>
  requires(nn::IsModule<M> && !std::derived_from<M, Module>) void fit(M&, const DataModule&) {
    static_assert(sizeof(M) == 0,
                  "Trainer.fit takes a train::Module, which knows its loss: derive from train::Module or train::Classifier");
  }
  /// Means over the data to be judged by, in evaluation mode and without gradients: "val_loss", "val_acc" of a Classifier.
  /// `model` is taken where it is, and computes in the precision where that is a mixed one. Error where there is no such data.
  [[nodiscard]] std::map<std::string, double> validate(Module& model, const DataModule& data, Site site = Site::here()) const;

  /// The curves of the last fit.
  [[nodiscard]] const ProgressBoard& board() const { return progress_.board; }
  /// What each epoch of the last fit came to, as its line says: train_loss over all its batches, and what validation gave; x is the epoch.
  [[nodiscard]] const ProgressBoard& figures() const { return progress_.figures; }
  /// Seconds that the last fit took, or takes so far; those before a resumption included.
  [[nodiscard]] double seconds() const;
  /// The GPUs' memory during the last fit, noted after each batch.
  [[nodiscard]] const MemoryRecorder& memory() const { return progress_.memory; }
  /// What the last fit trained on.
  [[nodiscard]] const std::vector<Device>& devices() const { return progress_.devices; }
  /// Epochs done, those before a resumption included.
  [[nodiscard]] int epoch() const { return progress_.epoch; }
  /// Steps of the optimizer done, those before a resumption included.
  [[nodiscard]] int64_t step() const { return progress_.step; }
  /// Whether Ctrl-C ended the last fit.
  [[nodiscard]] bool interrupted() const { return progress_.interrupted; }

  // --- While fit runs, for callbacks. Error for what needs a run where there is none.
  /// Ends the run after this batch, or before the next epoch.
  void stop() { progress_.stop = true; }
  /// Writes all that a run needs to go on.
  void save_checkpoint(const std::string& path) const;
  /// The optimizer of the run that goes on.
  [[nodiscard]] optim::Optimizer& optimizer() const;

  /// The checkpoint's path; empty without checkpoint_dir.
  [[nodiscard]] std::string checkpoint_path() const;
  /// What it was made with.
  [[nodiscard]] const TrainerOptions& options() const { return options_; }

 private:
  void run(Module& model, nn::Copier copier, const DataModule& data, Site site);
  [[nodiscard]] detail::Fit& fit_under_way(const char* op) const;

  TrainerOptions options_;
  detail::Progress progress_;
  detail::Fit* fit_ = nullptr;  // while one runs
};

}  // namespace tandem::train
