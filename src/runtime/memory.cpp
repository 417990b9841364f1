#include "runtime/memory.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/allocator.h"
#include "runtime/allocators.h"
#include "runtime/driver.h"
#include "runtime/host_cache.h"
#include "runtime/memory_text.h"
#include "runtime/stream_record.h"

namespace tandem::cuda {
namespace {

using runtime::CachingAllocator;

/// The allocator of the GPU that `device` names; nullptr where nothing has been allocated there yet.
CachingAllocator* allocator_of(Device device, const char* what) {
  if (device.is_cpu()) fail("[", what, "] expects a GPU such as cuda:0, not cpu");
  return runtime::detail::device_allocator_or_null(tandem::detail::resolve(device).index());
}

}  // namespace

size_t memory_allocated(Device device) {
  CachingAllocator* const allocator = allocator_of(device, "memory_allocated");
  return allocator ? allocator->allocated_bytes() : 0;
}

size_t max_memory_allocated(Device device) {
  CachingAllocator* const allocator = allocator_of(device, "max_memory_allocated");
  return allocator ? allocator->peak_allocated_bytes() : 0;
}

size_t memory_reserved(Device device) {
  CachingAllocator* const allocator = allocator_of(device, "memory_reserved");
  return allocator ? allocator->reserved_bytes() : 0;
}

size_t max_memory_reserved(Device device) {
  CachingAllocator* const allocator = allocator_of(device, "max_memory_reserved");
  return allocator ? allocator->peak_reserved_bytes() : 0;
}

size_t memory_cached(Device device) { return memory_reserved(device); }

MemoryStats memory_stats(Device device) {
  CachingAllocator* const allocator = allocator_of(device, "memory_stats");
  return allocator ? allocator->stats() : MemoryStats{};
}

void reset_peak_memory_stats(Device device) {
  if (CachingAllocator* const allocator = allocator_of(device, "reset_peak_memory_stats")) allocator->reset_peak();
}

void reset_accumulated_memory_stats(Device device) {
  if (CachingAllocator* const allocator = allocator_of(device, "reset_accumulated_memory_stats")) allocator->reset_accumulated();
}

std::string memory_summary(Device device) {
  const MemoryStats stats = memory_stats(device);
  return runtime::summary_table(stats, tandem::detail::resolve(device).index());
}

std::vector<SegmentInfo> memory_snapshot(Device device) {
  CachingAllocator* const allocator = allocator_of(device, "memory_snapshot");
  return allocator ? allocator->snapshot() : std::vector<SegmentInfo>{};
}

void set_per_process_memory_fraction(double fraction, Device device, Site /*site*/) {
  if (!(fraction >= 0 && fraction <= 1))
    fail("[set_per_process_memory_fraction] invalid fraction: ", fraction, ": expected a number from 0 to 1");
  const int index = runtime::device_index(device, "set_per_process_memory_fraction");
  const size_t total = runtime::require_driver().properties(index).total_memory;
  runtime::detail::device_allocator(index).set_limit(fraction == 1 ? SIZE_MAX : static_cast<size_t>(fraction * static_cast<double>(total)));
}

void empty_cache(Site site) {
  for (int device = 0; device < runtime::kMaxDevices; ++device)
    if (CachingAllocator* const allocator = runtime::detail::device_allocator_or_null(device)) allocator->empty_cache(site);
  runtime::empty_pinned_cache(site);
}

}  // namespace tandem::cuda

namespace tandem {

HostMemoryStats host_memory_stats() {
  return {.cached = runtime::host_cache_bytes(),
          .cached_limit = runtime::host_cache_limit(),
          .primitives = runtime::primitive_bytes.load(),
          .primitives_limit = runtime::primitive_limit()};
}

std::string host_memory_summary() {
  const HostMemoryStats stats = host_memory_stats();
  const auto line = [](const char* what, size_t bytes, size_t limit) {
    return str("| ", what, " | ", runtime::readable_size(bytes), " | ", runtime::readable_size(limit), " |\n");
  };
  return "| Host memory kept for reuse | Bytes | At most |\n|---|---|---|\n" +
         line("Freed memory of tensors", stats.cached, stats.cached_limit) +
         line("Primitives of oneDNN", stats.primitives, stats.primitives_limit);
}

}  // namespace tandem
