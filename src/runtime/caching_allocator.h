// One GPU's memory, kept for reuse by PyTorch's rules (c10/cuda/CUDACachingAllocator.cpp): sizes in steps of 512 bytes, a pool of small
// blocks and one of large, best fit among the stream's own blocks, splitting, merging, and the figures.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/site.h"
#include "runtime/driver.h"
#include "runtime/free_blocks.h"
#include "runtime/memory.h"
#include "runtime/observer.h"
#include "runtime/pending_uses.h"

namespace tandem::runtime {

/// The caching allocator of GPU `device`. Functions may be called from any thread. It must outlive its blocks; what it holds is given back
/// at its end.
class CachingAllocator {
 public:
  CachingAllocator(Driver& driver, int device);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// A block of at least `bytes` (not zero) for work on `stream`, from the pool of the calling thread's capture, if any. Throws
  /// OutOfMemoryError; also what waiting for the GPU throws, where its memory is so full that cached segments had to be given back.
  [[nodiscard]] Block* allocate(size_t bytes, const StreamRecord* stream, Site site);
  /// The block may be given out again on its own stream at once, or when the other streams it was recorded on have passed what is queued
  /// there now.
  void free(Block* block) noexcept;
  /// Notes that `block` is used on `stream` too.
  void record_stream(Block* block, const StreamRecord* stream);
  /// Whether `block`, were it freed, could be given to a request of the calling thread for `stream` at once.
  [[nodiscard]] bool reusable_on(const Block* block, const StreamRecord* stream) const;

  /// No capture takes memory from the pool any more: what is free there may be given back, behind what is queued on the streams where its
  /// graphs were replayed.
  void release_pool(uint64_t pool, const std::vector<const StreamRecord*>& replays) noexcept;

  /// Waits for the streams concerned, then gives the free segments that are not split back to the driver.
  void empty_cache(Site site);
  [[nodiscard]] cuda::MemoryStats stats();
  [[nodiscard]] size_t allocated_bytes();
  [[nodiscard]] size_t peak_allocated_bytes();
  /// The most that was allocated since this was asked before, and at least within the last second: who looks now and then sees what tensors
  /// hold only while a step runs.
  [[nodiscard]] size_t recent_peak_bytes();
  [[nodiscard]] size_t reserved_bytes();
  [[nodiscard]] size_t peak_reserved_bytes();
  void reset_peak();
  void reset_accumulated();
  /// The most bytes that are taken from the driver at once; what more is held already stays. SIZE_MAX: as many as there are.
  void set_limit(size_t bytes);
  [[nodiscard]] std::vector<cuda::SegmentInfo> snapshot();

  /// Writes what lies at `address` (a kernel's or the user's) as a line into `out`; false where that is no memory of this GPU or another
  /// thread is in the allocator. For a signal handler: takes no memory and waits for nothing.
  bool describe(const void* address, char* out, size_t size) noexcept;

 private:
  struct StreamPools {
    const StreamRecord* stream;
    uint64_t pool;
    FreeBlocks small, large;
  };
  /// A pool that no capture takes memory from any more, and where its graphs were replayed.
  struct Released {
    uint64_t pool;
    std::vector<const StreamRecord*> replays;
  };
  class Mark;
  struct Marks;

  [[nodiscard]] bool is_held(uint64_t pool) const;
  FreeBlocks& pool(const StreamRecord* stream, uint64_t number, bool large);
  Block* take_free(FreeBlocks& home, size_t size);
  Block* add_segment(std::unique_lock<std::mutex>& lock, FreeBlocks& home, bool large, size_t size);
  void hand_out(Block* block, size_t size, size_t requested, Site site);
  void return_block(Block* block);
  size_t merge(Block* block, Block* neighbour);
  void process_pending();
  [[nodiscard]] std::vector<const StreamRecord*> users(const Segment& segment) const;
  [[nodiscard]] bool is_idle(const Segment& segment) const;
  [[nodiscard]] Marks mark_uses();
  bool wait_for_one(std::unique_lock<std::mutex>& lock, Marks& marks, const char* op, Site site);
  void tell(facts::MemoryMark::Kind kind, const Block& block) const noexcept;
  Block* wait_for_memory(std::unique_lock<std::mutex>& lock, FreeBlocks& home, size_t size, bool large, Site site);
  void release_cached(const Marks& marks);
  void release_segment(Segment* segment) noexcept;
  Block* new_block();
  void drop_block(Block* block) noexcept;
  [[noreturn]] void out_of_memory(size_t segment_size, const StreamRecord* stream, Site site);

  Driver& driver_;
  const int device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<StreamPools>> pools_;
  StreamPools* last_pools_ = nullptr;  // of the stream asked for last
  std::vector<std::unique_ptr<Segment>> segments_;
  PendingUses<Block> pending_;
  std::vector<uint64_t> held_;      // the pools of captures that have taken memory and may take more, or replay in it
  uint64_t clock_ = 0;              // counts what happens to segments
  std::vector<Released> released_;  // of these, those that still have segments
  Block* spare_ = nullptr;          // unused Block objects, by free_after
  cuda::MemoryStats stats_;
  size_t recent_peak_ = 0, peak_before_ = 0;  // since peak_began_, and before that
  std::chrono::steady_clock::time_point peak_began_;
  size_t limit_ = SIZE_MAX;  // of the bytes taken from the driver
  size_t asked_ = 0;         // bytes that the driver is being asked for now
};

}  // namespace tandem::runtime
