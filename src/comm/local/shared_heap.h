// A rank's memory for tensors that the other processes of its machine reach where they are.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace tandem::comm {

/// Hands out parts of a piece of shared memory. Thread-safe.
class SharedHeap : public std::enable_shared_from_this<SharedHeap> {
 public:
  /// `memory` of zeros, which `keeper` holds.
  SharedHeap(std::byte* memory, size_t bytes, std::shared_ptr<void> keeper) : memory_(memory), bytes_(bytes), keeper_(std::move(keeper)) {}

  /// `bytes` of zeros, on pages of their own; nullptr where there is no room. They go back to the system with their last holder, which may
  /// outlive the group.
  [[nodiscard]] std::shared_ptr<void> allocate(size_t bytes);

 private:
  void free(size_t offset);

  std::byte* const memory_;
  const size_t bytes_;
  std::shared_ptr<void> keeper_;
  std::mutex mutex_;
  std::map<size_t, size_t> used_;  // the bytes from each offset on
};

}  // namespace tandem::comm
