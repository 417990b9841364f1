// Page-locked host memory kept for reuse: getting it from a driver takes longer than most copies through it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/site.h"
#include "runtime/driver.h"
#include "runtime/pending_uses.h"
#include "runtime/stream_record.h"

namespace tandem::runtime {

/// A piece of page-locked memory: one size class, never split.
struct PinnedBlock {
  void* data = nullptr;
  size_t capacity = 0;
  size_t index = 0;  // its place in the cache's list
  size_t requested = 0;
  Site site = Site::none();
  int pending = 0;                        // copies that have not passed since it was freed
  std::vector<const StreamRecord*> uses;  // streams that copy from it or to it
};

/// The cache of one driver's page-locked memory. Functions may be called from any thread. It must outlive its blocks; what it holds is
/// given back at its end.
class PinnedCache {
 public:
  explicit PinnedCache(Driver& driver) : driver_(driver), pending_(driver) {}
  ~PinnedCache();
  PinnedCache(const PinnedCache&) = delete;
  PinnedCache& operator=(const PinnedCache&) = delete;

  /// At least `bytes` (not zero), page-aligned. Throws OutOfMemoryError.
  [[nodiscard]] PinnedBlock* allocate(size_t bytes, Site site);
  /// The block is given out again once the streams it was recorded on have passed what is queued there now.
  void free(PinnedBlock* block) noexcept;
  /// Notes that a copy on `stream` uses the block.
  void record_stream(PinnedBlock* block, const StreamRecord* stream);
  /// Waits for the copies of freed blocks, then gives what nobody holds back to the driver.
  void empty(Site site);
  /// Bytes kept for reuse, those that wait for copies not counted.
  [[nodiscard]] size_t cached_bytes();

 private:
  PinnedBlock* hand_out(PinnedBlock* block, size_t bytes, Site site);
  void keep(PinnedBlock* block);
  void trim_locked() noexcept;
  void release(PinnedBlock* block) noexcept;

  Driver& driver_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PinnedBlock>> blocks_;
  std::vector<PinnedBlock*> free_[256];  // by size class
  PendingUses<PinnedBlock> pending_;
};

}  // namespace tandem::runtime
