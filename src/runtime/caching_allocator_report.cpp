// What the caching allocator tells of itself: figures, snapshot, what lies at an address, why memory ran out.
#include <algorithm>

#include "base/error.h"
#include "runtime/caching_allocator.h"
#include "runtime/memory_text.h"

namespace tandem::runtime {
namespace {

template <class F>
void for_each_figure(cuda::MemoryStats& stats, F f) {
  for (auto* figure : {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split, &stats.allocated_bytes,
                       &stats.reserved_bytes, &stats.active_bytes, &stats.inactive_split_bytes, &stats.requested_bytes})
    for (auto* stat : {&figure->all, &figure->small_pool, &figure->large_pool}) f(*stat);
}

}  // namespace

void CachingAllocator::out_of_memory(size_t segment_size, const StreamRecord* stream, Site site) {
  ++stats_.num_ooms;
  runtime::tell([&] {
    return facts::MemoryMark{
        .kind = facts::MemoryMark::Exhausted, .device = gpu(device_), .bytes = segment_size, .stream = stream, .site = site};
  });
  size_t largest_free = 0;
  std::vector<const Block*> held;
  for (const auto& segment : segments_) {
    for (const Block* block = segment->first; block; block = block->after) {
      if (block->free()) largest_free = std::max(largest_free, block->size);
      if (block->allocated) held.push_back(block);
    }
  }
  const auto [free, total] = driver_.memory_info(device_);
  const auto allocated = stats_.allocated_bytes.all.current, reserved = stats_.reserved_bytes.all.current;
  std::string text = str(
      "CUDA out of memory. Tried to allocate ", readable_size(segment_size), ". GPU ", device_, " has a total capacity of ",
      readable_size(total), " of which ", readable_size(free), " is free. ", limit_ == SIZE_MAX ? "" : readable_size(limit_) + " allowed; ",
      "Of the allocated memory ", readable_size(allocated), " is allocated by tandem, and ", readable_size(reserved - allocated),
      " is reserved but unallocated. Largest free block: ", readable_size(largest_free), ". Let go of tensors, or use smaller batches.");
  throw OutOfMemoryError(text + held_by(held));
}

bool CachingAllocator::describe(const void* address, char* out, size_t size) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const auto* const wanted = static_cast<const char*>(address);
  for (const auto& segment : segments_) {
    size_t offset = 0;
    if (wanted >= segment->user_address && wanted < segment->user_address + segment->size) {
      offset = static_cast<size_t>(wanted - segment->user_address);
    } else if (wanted >= segment->address && wanted < segment->address + segment->size) {
      offset = static_cast<size_t>(wanted - segment->address);
    } else {
      continue;
    }
    for (const Block* block = segment->first; block; block = block->after) {
      if (offset >= static_cast<size_t>(block->address - segment->address) + block->size) continue;
      write_description(*block, out, size);
      return true;
    }
  }
  return false;
}

size_t CachingAllocator::allocated_bytes() {
  const std::lock_guard lock(mutex_);
  return stats_.allocated_bytes.all.current;
}

size_t CachingAllocator::peak_allocated_bytes() {
  const std::lock_guard lock(mutex_);
  return stats_.allocated_bytes.all.peak;
}

size_t CachingAllocator::recent_peak_bytes() {
  const std::lock_guard lock(mutex_);
  const size_t most = std::max(recent_peak_, peak_before_);
  const auto now = std::chrono::steady_clock::now();
  if (now - peak_began_ >= std::chrono::seconds(1)) {
    peak_before_ = recent_peak_;
    recent_peak_ = stats_.allocated_bytes.all.current;
    peak_began_ = now;
  }
  return most;
}

size_t CachingAllocator::reserved_bytes() {
  const std::lock_guard lock(mutex_);
  return stats_.reserved_bytes.all.current;
}

size_t CachingAllocator::peak_reserved_bytes() {
  const std::lock_guard lock(mutex_);
  return stats_.reserved_bytes.all.peak;
}

cuda::MemoryStats CachingAllocator::stats() {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void CachingAllocator::reset_peak() {
  const std::lock_guard lock(mutex_);
  for_each_figure(stats_, [](cuda::Stat& stat) { stat.peak = stat.current; });
}

void CachingAllocator::reset_accumulated() {
  const std::lock_guard lock(mutex_);
  for_each_figure(stats_, [](cuda::Stat& stat) { stat.allocated = stat.freed = 0; });
  stats_.num_alloc_retries = stats_.num_ooms = 0;
}

void CachingAllocator::set_limit(size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

std::vector<cuda::SegmentInfo> CachingAllocator::snapshot() {
  std::vector<cuda::SegmentInfo> out;
  const std::lock_guard lock(mutex_);
  for (const auto& segment : segments_) {
    cuda::SegmentInfo info;
    info.device = device_;
    info.address = reinterpret_cast<uintptr_t>(segment->user_address);
    info.total_size = segment->size;
    info.is_large = segment->large;
    info.stream = segment->home->stream()->id;
    for (const Block* block = segment->first; block; block = block->after) {
      if (block->allocated) info.allocated_size += block->size;
      if (!block->free()) info.active_size += block->size;
      const char* const state = block->allocated ? "active_allocated" : block->pending ? "active_pending_free" : "inactive";
      info.blocks.push_back({block->size, block->free() ? 0 : block->requested, state, block->free() ? "" : block->site.file,
                             block->free() ? 0 : block->site.line});
    }
    out.push_back(std::move(info));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return out;
}

}  // namespace tandem::runtime
