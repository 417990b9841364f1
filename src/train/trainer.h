// Trainer: the loop over epochs and batches, on the CPU, one card or several, with a progress bar, curves and checkpoints.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "nn/any_module.h"
#include "train/board.h"
#include "train/data_module.h"
#include "train/module.h"

namespace tandem::train {

struct TrainerOptions {
  int max_epochs = 1;
  int num_gpus = 0;                   // cards to train on, data-parallel from two on; as many as there are where there are fewer
  double gradient_clip_val = 0;       // the most the gradients' norm may be; 0 leaves them as they are
  std::string checkpoint_dir = {};    // where checkpoint.safetensors is written after each epoch; empty: nowhere
  bool resume = false;                // go on from that checkpoint where there is one
  bool quiet = false;                 // no progress bar
  bool plot = false;                  // draw the curves under the progress bar, where that is a terminal
  std::optional<uint64_t> seed = {};  // manual_seed at the start of fit
  std::ostream* output = nullptr;     // where progress goes, in plain lines; the terminal (standard error) unless given
};

/// Trains a model as the Trainer of "Dive into Deep Learning" does. Per batch: move it, loss, zero_grad, backward, clip, step; after each
/// epoch an evaluation without gradients. Reads nothing back from the cards within an epoch except, ten times a second, the loss for a
/// terminal's progress bar.
class Trainer {
 public:
  /// Error for negative numbers, and for `resume` without a checkpoint_dir.
  explicit Trainer(TrainerOptions options = {});

  /// Trains `model` in place until max_epochs are done. It is moved to the first card used (to the CPU without one) and stays there.
  /// Interrupted and resumed, weights and curves are those of a run that never stopped, to the bit.
  template <class M>
  requires std::derived_from<M, Module>
  void fit(M& model, const DataModule& data, Site site = Site::here()) {
    nn::detail::check_exact_type("Trainer.fit", model, typeid(M));
    run(model, nn::copier_of<M>(), data, site);
  }
  /// Means over the data to be judged by, in evaluation mode and without gradients: "val_loss", "val_acc" of a Classifier.
  /// `model` is taken where it is. Error where there is no such data.
  [[nodiscard]] std::map<std::string, double> validate(Module& model, const DataModule& data, Site site = Site::here()) const;

  /// The curves of the last fit.
  [[nodiscard]] const ProgressBoard& board() const { return board_; }
  /// What the last fit trained on.
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  /// Epochs done, those before a resumption included.
  [[nodiscard]] int epoch() const { return epoch_; }
  /// The checkpoint's path; empty without checkpoint_dir.
  [[nodiscard]] std::string checkpoint_path() const;
  [[nodiscard]] const TrainerOptions& options() const { return options_; }

 private:
  void run(Module& model, nn::Copier copier, const DataModule& data, Site site);

  TrainerOptions options_;
  ProgressBoard board_;
  std::vector<Device> devices_;
  int epoch_ = 0;
};

}  // namespace tandem::train
