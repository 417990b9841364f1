// The caching allocators of this process's GPUs. For the runtime itself.
#pragma once

#include <atomic>

#include "runtime/caching_allocator.h"
#include "runtime/pinned_cache.h"
#include "runtime/stream_record.h"

namespace tandem::runtime::detail {

extern constinit std::atomic<CachingAllocator*> device_allocators[kMaxDevices];
/// In a forked child: the memory is the parent's. Nothing of it is given back from here, and no lock of its allocators taken.
void leave_device_memory() noexcept;
[[nodiscard]] CachingAllocator& make_device_allocator(int device);

/// The allocator of GPU `device`, an index that exists; nullptr where nothing has been allocated there yet, and in a forked child.
[[nodiscard]] inline CachingAllocator* device_allocator_or_null(int device) {
  return device_allocators[device].load(std::memory_order_acquire);
}
/// The allocator of GPU `device`, an index that exists.
[[nodiscard]] inline CachingAllocator& device_allocator(int device) {
  CachingAllocator* const allocator = device_allocator_or_null(device);
  return allocator ? *allocator : make_device_allocator(device);
}

}  // namespace tandem::runtime::detail
