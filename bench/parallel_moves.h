// What moves between GPUs and to the host: copies beside computing, and collectives.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace tandem::bench {

/// Products on one device and the copy of each to pinned host memory, in milliseconds: each alone, one after another, and side by side.
struct Overlap {
  int products = 0;
  int64_t inner = 0;  // size of the dimension that is summed over, chosen so that computing takes about as long as copying
  double run_ms = 0, copy_ms = 0, in_turn_ms = 0, overlapped_ms = 0;
  /// Overlapped over the longer of run and copy: 1 is all that can be had.
  [[nodiscard]] double of_longer() const;
};
[[nodiscard]] Overlap measure_overlap(Device device, int64_t size, int rounds);

/// One collective, or one copy, of so many bytes a device.
struct Moved {
  std::string name;
  int gpus = 0;
  int64_t bytes = 0;
  double ns = 0;        // median
  double gb_per_s = 0;  // bytes that each link carries, over the time
  double limit = 0;     // GB/s of a plain copy over the same link, or within memory
};
[[nodiscard]] std::vector<Moved> measure_moves(std::span<const Device> devices, std::span<const int64_t> bytes, double ms);

}  // namespace tandem::bench
