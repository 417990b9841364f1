// How far the host may run ahead of a GPU, batch by batch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "runtime/stream.h"

namespace tandem::train {

/// Keeps the host at most kAhead batches ahead of a GPU, and no more of slow ones than take kSecondsAhead together (but one), so that the
/// run can be told of and ended soon. On the CPU a batch is done when it is queued.
class Pace {
 public:
  static constexpr int64_t kAhead = 8;
  static constexpr double kSecondsAhead = 0.25;

  explicit Pace(Device device) : device_(device) {}

  /// How many batches have been queued, and how many of them are done.
  [[nodiscard]] int64_t queued() const { return queued_; }
  [[nodiscard]] int64_t done() const { return done_; }
  /// Whether one has to be waited for before another is queued.
  [[nodiscard]] bool full() const { return queued_ - done_ >= ahead_; }
  /// All work of a batch has been queued.
  void batch_queued(Site site);
  /// Waits for the batch that has been on its way longest. False where none is.
  bool wait(Site site);

 private:
  [[nodiscard]] std::optional<cuda::Event>& event(int64_t batch) { return events_[static_cast<size_t>(batch % kAhead)]; }

  Device device_;
  std::array<std::optional<cuda::Event>, kAhead> events_;
  int64_t queued_ = 0, done_ = 0;
  int64_t ahead_ = 1;      // how many may be on their way
  double last_done_ = -1;  // when the last one was found done, in seconds
};

}  // namespace tandem::train
