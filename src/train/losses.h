// The losses of an epoch's batches, brought to the host without waiting for them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "runtime/stream.h"
#include "tensor/tensor.h"

namespace tandem::train {

/// The mean of the losses over a part of an epoch.
struct LossMean {
  double sum = 0;
  int64_t batches = 0;
  [[nodiscard]] double value() const { return batches ? sum / static_cast<double>(batches) : 0; }
};

/// Keeps the host at most kAhead batches ahead of a GPU, and no more of slow ones than take kSecondsAhead together (but one), so that the
/// run can be told of and ended soon. Each batch's loss is read when that batch is waited for: it lies in page-locked memory by then. On
/// the CPU a loss is there at once.
class Losses {
 public:
  static constexpr int64_t kAhead = 8;
  static constexpr double kSecondsAhead = 0.25;

  /// Of an epoch of `batches` batches on `device`.
  Losses(Device device, int64_t batches) : device_(device), batches_(batches) {}

  /// The loss of batch `index`, which is queued. Error, with the batch's number, where a loss that has come home is not finite.
  void add(int64_t index, const Tensor& loss, int epoch, Site site);
  /// Waits for the batch that has been on its way longest. False where none is.
  bool wait(int epoch, Site site);
  /// Waits for all of them.
  void finish(int epoch, Site site);
  /// How many batches have been added, and how many of them are done.
  [[nodiscard]] int64_t added() const { return added_; }
  [[nodiscard]] int64_t done() const { return done_; }

  /// The means over the first and the second half of the epoch, as far as they are known.
  [[nodiscard]] const std::array<LossMean, 2>& halves() const { return halves_; }
  void set_halves(const std::array<LossMean, 2>& halves) { halves_ = halves; }
  /// The mean over the half that runs.
  [[nodiscard]] double running() const { return halves_[halves_[1].batches > 0 ? 1 : 0].value(); }
  [[nodiscard]] double mean() const;

 private:
  struct Arrival {
    std::optional<cuda::Event> event;
    Tensor value;       // in page-locked memory
    int64_t index = 0;  // the batch's
  };
  [[nodiscard]] Arrival& arrival(int64_t number) { return arrivals_[static_cast<size_t>(number % kAhead)]; }
  void take(int64_t index, double loss, int epoch);

  Device device_;
  int64_t batches_;
  std::array<LossMean, 2> halves_ = {};
  std::array<Arrival, kAhead> arrivals_;
  int64_t added_ = 0, done_ = 0;
  int64_t ahead_ = 1;         // how many may be on their way
  double last_arrival_ = -1;  // when the last loss was there, in seconds
};

}  // namespace tandem::train
