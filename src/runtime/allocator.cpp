// The process's allocators: one a GPU, one for page-locked memory, made when first needed and never destroyed, because tensors with static
// storage are freed after everything else.
#include "runtime/allocator.h"

#include <cstdlib>
#include <mutex>

#include "base/error.h"
#include "base/work_site.h"
#include "runtime/allocators.h"
#include "runtime/answer.h"
#include "runtime/driver.h"
#include "runtime/stream_record.h"

namespace tandem::runtime {

namespace detail {

constinit std::atomic<CachingAllocator*> device_allocators[kMaxDevices] = {};

void leave_device_memory() noexcept {
  for (auto& allocator : device_allocators) allocator.store(nullptr);
}

CachingAllocator& make_device_allocator(int device) {
  static std::mutex mutex;
  Driver& driver = require_driver();
  const std::lock_guard lock(mutex);
  CachingAllocator* allocator = device_allocators[device].load(std::memory_order_acquire);
  if (!allocator) {
    allocator = new CachingAllocator(driver, device);
    device_allocators[device].store(allocator, std::memory_order_release);
    start_answering();
  }
  return *allocator;
}

}  // namespace detail

namespace {

constinit std::atomic<PinnedCache*> made_pinned_cache{nullptr};

/// nullptr where there are no GPUs.
PinnedCache* pinned_cache() {
  refuse_forked();
  static PinnedCache* const cache = [] {
    Driver* const devices = driver();
    if (devices) made_pinned_cache.store(new PinnedCache(*devices), std::memory_order_release);
    return made_pinned_cache.load();
  }();
  return cache;
}

/// The line that memory is held for: where the caller knows none, as a layer that was called by its forward(), the user's statement.
Site holder_of(Site given) {
  const Site site = tandem::detail::site_of_work(given);
  return site.line > 0 ? site : Site(tandem::detail::statement_line.file, tandem::detail::statement_line.line);
}

}  // namespace

Allocation allocate_device(Device device, size_t bytes, Site site) {
  if (bytes == 0) return {};
  const int index = device.index();
  Block* const block = detail::device_allocator(index).allocate(bytes, current_stream(index), holder_of(site));
  return {block->address, block};
}

void free_device(Device device, Allocation allocation) noexcept {
  if (!allocation.block) return;
  if (CachingAllocator* const allocator = detail::device_allocator_or_null(device.index()))
    allocator->free(static_cast<Block*>(allocation.block));
}

void record_stream(Device device, Allocation allocation, const cuda::Stream& stream) {
  if (allocation.block) detail::device_allocator(device.index()).record_stream(static_cast<Block*>(allocation.block), stream.record());
}

bool reusable_now(Device device, Allocation allocation) {
  const int index = device.index();
  return detail::device_allocator(index).reusable_on(static_cast<const Block*>(allocation.block), current_stream(index));
}

Allocation allocate_pinned(size_t bytes, Site site) {
  if (bytes == 0) return {};
  if (PinnedCache* const cache = pinned_cache()) {
    PinnedBlock* const block = cache->allocate(bytes, holder_of(site));
    return {block->data, block};
  }
  // Without a GPU nothing copies by itself: memory that merely looks the part.
  constexpr size_t page = 4096;
  void* data = nullptr;
  if (bytes > SIZE_MAX / 4 || posix_memalign(&data, page, (bytes + page - 1) / page * page) != 0)
    fail<OutOfMemoryError>("[pin_memory] could not get ", bytes, " bytes of host memory: let go of tensors or use smaller ones");
  return {data, nullptr};
}

void free_pinned(Allocation allocation) noexcept {
  if (!allocation.block) std::free(allocation.data);
  else if (own_driver()) pinned_cache()->free(static_cast<PinnedBlock*>(allocation.block));
}

void record_stream_pinned(Allocation allocation, const cuda::Stream& stream) {
  if (allocation.block) pinned_cache()->record_stream(static_cast<PinnedBlock*>(allocation.block), stream.record());
}

void empty_pinned_cache(Site site) {
  if (PinnedCache* const cache = made_pinned_cache.load(std::memory_order_acquire)) cache->empty(site);
}

bool describe_block(int device, const void* address, char* out, size_t size) noexcept {
  if (device < 0 || device >= kMaxDevices) return false;
  CachingAllocator* const allocator = detail::device_allocator_or_null(device);
  return allocator && allocator->describe(address, out, size);
}

}  // namespace tandem::runtime
