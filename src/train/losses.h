// The losses of an epoch's batches, brought to the host without waiting for them.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/tensor.h"
#include "train/pace.h"

namespace tandem::train {

/// The mean of the losses over a part of an epoch.
struct LossMean {
  double sum = 0;
  int64_t batches = 0;
  [[nodiscard]] double value() const { return batches ? sum / static_cast<double>(batches) : 0; }
};

/// Read when their batches are waited for: they lie in page-locked memory by then. On the CPU a loss is there at once.
class Losses {
 public:
  /// Of an epoch of `batches` batches on `device`.
  Losses(Device device, int64_t batches) : device_(device), batches_(batches), pace_(device) {}

  /// The loss of batch `index`, which is queued. Error, with the batch's number, where a loss that has come home is not finite.
  void add(int64_t index, const Tensor& loss, int epoch, Site site);
  /// Waits for the batch that has been on its way longest. False where none is.
  bool wait(int epoch, Site site);
  /// Waits for all of them.
  void finish(int epoch, Site site);
  /// How many batches have been added, and how many of them are done.
  [[nodiscard]] int64_t added() const { return pace_.queued(); }
  [[nodiscard]] int64_t done() const { return pace_.done(); }

  /// The means over the first and the second half of the epoch, as far as they are known.
  [[nodiscard]] const std::array<LossMean, 2>& halves() const { return halves_; }
  void set_halves(const std::array<LossMean, 2>& halves) { halves_ = halves; }
  /// The mean over the half that runs.
  [[nodiscard]] double running() const { return halves_[halves_[1].batches > 0 ? 1 : 0].value(); }
  [[nodiscard]] double mean() const;

 private:
  struct Arrival {
    Tensor value;       // in page-locked memory
    int64_t index = 0;  // the batch's
  };
  [[nodiscard]] Arrival& arrival(int64_t number) { return arrivals_[static_cast<size_t>(number % Pace::kAhead)]; }
  void take(int64_t index, double loss, int epoch);

  Device device_;
  int64_t batches_;
  std::array<LossMean, 2> halves_ = {};
  Pace pace_;
  std::array<Arrival, Pace::kAhead> arrivals_;
};

}  // namespace tandem::train
