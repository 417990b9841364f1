// Guard bytes: the mode in which tests of operations run. A kernel that writes outside its output, or leaves a part of it unwritten, shows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/site.h"
#include "runtime/device.h"

namespace tandem::runtime {

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

// --- For Storage
[[nodiscard]] bool memory_is_guarded() noexcept;
struct GuardedBlock {
  void* data = nullptr;    // the first byte asked for
  void* block = nullptr;   // the allocator's record
  void* record = nullptr;  // for free_guarded
};
[[nodiscard]] GuardedBlock allocate_guarded(Device device, size_t bytes, Site site);
/// Looks at the guard bytes, then gives the memory back.
void free_guarded(void* record) noexcept;

}  // namespace tandem::runtime
