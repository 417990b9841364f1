// Guard bytes: the mode in which tests of operations run. A kernel that writes outside its output, or leaves a part of it unwritten, shows.
#pragma once

#include <cstdint>

namespace tandem::testing {

/// While one lives, the memory of every new tensor has guard bytes on both sides, and holds `poison` in every byte until something writes
/// it. Pinned memory is as ever. Slow: it waits for GPUs. One at a time in a process.
class GuardedMemory {
 public:
  explicit GuardedMemory(unsigned char poison);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  /// How many blocks came back with changed guard bytes since this began.
  [[nodiscard]] int64_t overruns() const;

 private:
  int64_t before_;
};

}  // namespace tandem::testing
