// Host blocks from 1 MiB on: mapped directly, on huge pages where the kernel gives them, and kept after use up to a limit, the oldest going
// first.
#include <sys/mman.h>

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "base/fork.h"
#include "runtime/host_cache.h"

namespace tandem::runtime::detail {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

/// What is mapped for a request: steps of about a sixteenth, and whole huge pages where they waste little.
size_t capacity_for(size_t bytes) {
  const size_t step = bytes >= 8 * kHugePage ? kHugePage : bytes >= kHugePage ? size_t{128} << 10 : size_t{64} << 10;
  return (bytes + step - 1) / step * step;
}

void* map(size_t capacity) noexcept {
  // Huge pages need their own alignment: map more, and give the rest back.
  const size_t spare = capacity >= kHugePage ? kHugePage : 0;
  void* mapped = mmap(nullptr, capacity + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (!spare) return mapped;
  const auto start = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t aligned = (start + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > start) munmap(mapped, aligned - start);
  if (aligned < start + spare) munmap(reinterpret_cast<void*>(aligned + capacity), start + spare - aligned);
  auto* const data = reinterpret_cast<void*>(aligned);
  madvise(data, capacity, MADV_HUGEPAGE);  // a wish: without it the block works the same
  return data;
}

class LargeCache {
 public:
  void* allocate(size_t bytes) noexcept {
    if (bytes > SIZE_MAX / 2) return nullptr;
    const size_t capacity = capacity_for(bytes);
    try {
      {
        const std::lock_guard lock(mutex_);
        // Best fit, as long as no more than an eighth is wasted.
        const auto fit = by_size_.lower_bound(capacity);
        if (fit != by_size_.end() && fit->first <= capacity + capacity / 8) {
          void* const data = fit->second->data;
          used_.emplace(data, fit->first);
          cached_ -= fit->first;
          by_age_.erase(fit->second);
          by_size_.erase(fit);
          return data;
        }
      }
      void* data = map(capacity);
      if (!data) {
        trim(0);
        data = map(capacity);
      }
      if (!data) return nullptr;
      const std::lock_guard lock(mutex_);
      used_.emplace(data, capacity);
      return data;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  void free(void* data) noexcept {
    std::unique_lock lock(mutex_);
    const auto found = used_.find(data);
    const size_t capacity = found->second;
    used_.erase(found);
    try {
      by_age_.push_back({data, capacity, {}});
      by_age_.back().place = by_size_.emplace(capacity, std::prev(by_age_.end()));
      cached_ += capacity;
    } catch (const std::bad_alloc&) {
      if (!by_age_.empty() && by_age_.back().data == data) by_age_.pop_back();
      munmap(data, capacity);
      return;
    }
    const size_t limit = limit_;
    const bool over = cached_ > limit;
    lock.unlock();
    if (over) trim(limit);
  }

  /// Gives the oldest blocks back until at most `limit` bytes are cached.
  void trim(size_t limit) noexcept {
    while (true) {
      Cached oldest{};
      {
        const std::lock_guard lock(mutex_);
        if (cached_ <= limit) return;
        oldest = by_age_.front();
        by_size_.erase(oldest.place);
        by_age_.pop_front();
        cached_ -= oldest.capacity;
      }
      munmap(oldest.data, oldest.capacity);  // outside the lock: it takes a millisecond for a big block
    }
  }

  size_t cached() noexcept {
    const std::lock_guard lock(mutex_);
    return cached_;
  }
  size_t limit(size_t bytes) noexcept {
    size_t before = 0;
    {
      const std::lock_guard lock(mutex_);
      before = std::exchange(limit_, bytes);
    }
    trim(bytes);
    return before;
  }

 private:
  struct Cached;
  using BySize = std::multimap<size_t, std::list<Cached>::iterator>;
  struct Cached {
    void* data;
    size_t capacity;
    BySize::iterator place;
  };

  tandem::detail::ForkSafeMutex mutex_;
  std::list<Cached> by_age_;  // oldest first
  BySize by_size_;
  std::unordered_map<void*, size_t> used_;  // capacities of blocks in use: best fit may have given more than was asked for
  size_t cached_ = 0;
  size_t limit_ = SIZE_MAX;
};

/// Never destroyed: tensors with static storage are freed after everything else.
LargeCache& cache() {
  static auto* const instance = new LargeCache;
  return *instance;
}

}  // namespace

void* allocate_large_host(size_t bytes) noexcept { return cache().allocate(bytes); }
void free_large_host(void* data) noexcept { cache().free(data); }
void trim_large_host() noexcept { cache().trim(0); }
size_t large_host_cached() noexcept { return cache().cached(); }
size_t limit_large_host(size_t bytes) noexcept { return cache().limit(bytes); }

}  // namespace tandem::runtime::detail
