// MemoryRecorder: how much memory of the GPUs a run holds, over time.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/device.h"

namespace tandem::train {

/// The allocator's figures of one moment, in bytes.
struct MemorySample {
  double x = 0;  // in epochs, or what the caller counts
  /// Those of one GPU.
  struct Figures {
    size_t allocated = 0;  // held by tensors
    size_t peak = 0;       // the most there were so far
    size_t reserved = 0;   // taken from the driver
  };
  std::vector<Figures> devices;  // in the order of MemoryRecorder::devices
};

/// Notes the figures at every call of `record`, or at every n-th: where there are more than `most` samples, every second is forgotten and
/// the interval doubled. Asks the allocator, never a GPU: nothing waits.
class MemoryRecorder {
 public:
  /// Of `devices`, the GPUs; the CPU has no such figures.
  explicit MemoryRecorder(const std::vector<Device>& devices = {}, size_t most = 400);

  /// Notes the figures of now.
  void record(double x);
  /// The GPUs that it looks at.
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  /// What was noted, in its order.
  [[nodiscard]] const std::vector<MemorySample>& samples() const { return samples_; }

 private:
  std::vector<Device> devices_;
  size_t most_;
  size_t interval_ = 1, calls_ = 0;
  std::vector<MemorySample> samples_;
};

}  // namespace tandem::train
