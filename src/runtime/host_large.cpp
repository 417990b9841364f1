// Host blocks from 1 MiB on: mapped directly, on huge pages where the kernel gives them, and kept after use up to a limit, the oldest going
// first. What is kept is cut to what is asked for, and grows together again: little more is mapped than was ever in use at once.
#include <sys/mman.h>

#include <algorithm>
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
constexpr size_t kLeast = size_t{64} << 20;  // in use and cached: less is not worth a page fault

/// What is mapped for a request: steps of about a sixteenth, and whole huge pages where they waste little.
size_t capacity_for(size_t bytes) {
  const size_t step = bytes >= 8 * kHugePage ? kHugePage : bytes >= kHugePage ? size_t{128} << 10 : size_t{64} << 10;
  return (bytes + step - 1) / step * step;
}

char* map(size_t capacity) noexcept {
  // Huge pages need their own alignment: map more, and give the rest back.
  const size_t spare = capacity >= kHugePage ? kHugePage : 0;
  void* mapped = mmap(nullptr, capacity + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (!spare) return static_cast<char*>(mapped);
  const auto start = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t aligned = (start + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > start) munmap(mapped, aligned - start);
  if (aligned < start + spare) munmap(reinterpret_cast<void*>(aligned + capacity), start + spare - aligned);
  auto* const data = reinterpret_cast<char*>(aligned);
  madvise(data, capacity, MADV_HUGEPAGE);  // a wish: without it the block works the same
  return data;
}

class LargeCache {
 public:
  void* allocate(size_t bytes) noexcept {
    if (bytes > SIZE_MAX / 2) return nullptr;
    const size_t capacity = capacity_for(bytes);
    try {
      if (void* const data = take(capacity)) return data;
      trim(spare_with(capacity));
      char* data = map(capacity);
      if (!data) {
        trim(0);
        data = map(capacity);
      }
      if (!data) return nullptr;
      const std::lock_guard lock(mutex_);
      use(data, capacity);
      return data;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  void free(void* data) noexcept {
    std::unique_lock lock(mutex_);
    const auto found = used_.find(static_cast<char*>(data));
    const size_t capacity = found->second;
    used_.erase(found);
    in_use_ -= capacity;
    if (!keep(static_cast<char*>(data), capacity)) return;
    const size_t limit = limit_;
    const bool over = cached_ > limit;
    lock.unlock();
    if (over) trim(limit);
  }

  /// Gives the oldest blocks back until at most `limit` bytes are cached; the last of them in part.
  void trim(size_t limit) noexcept {
    while (true) {
      char* data = nullptr;
      size_t capacity = 0;
      {
        const std::lock_guard lock(mutex_);
        if (cached_ <= limit) return;
        const Entry oldest = by_age_.begin();
        const size_t whole = oldest->capacity, least = (cached_ - limit + kHugePage - 1) / kHugePage * kHugePage;
        capacity = std::min(whole, least);
        data = oldest->data + (whole - capacity);
        if (capacity == whole) forget(oldest);
        else shorten(oldest, whole - capacity);
      }
      munmap(data, capacity);  // outside the lock: it takes a millisecond for a big block
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
  using Entry = std::list<Cached>::iterator;
  struct Cached {
    char* data;
    size_t capacity;
    std::multimap<size_t, Entry>::iterator by_size;
    std::map<char*, Entry>::iterator by_address;
  };

  void use(char* data, size_t capacity) {
    used_.emplace(data, capacity);
    in_use_ += capacity;
    most_in_use_ = std::max(most_in_use_, in_use_);
  }

  /// How much may stay cached when `capacity` more is mapped because all that is cached is too short: what was in use at once, and a
  /// sixteenth.
  size_t spare_with(size_t capacity) noexcept {
    const std::lock_guard lock(mutex_);
    const size_t most = std::max(most_in_use_ + most_in_use_ / 16, kLeast), needed = in_use_ + capacity;
    return needed < most ? most - needed : 0;
  }

  /// The smallest block that is large enough; what is left of it stays cached. nullptr where there is none.
  void* take(size_t capacity) {
    const std::lock_guard lock(mutex_);
    const auto fit = by_size_.lower_bound(capacity);
    if (fit == by_size_.end()) return nullptr;
    char* const data = fit->second->data;
    const size_t whole = fit->first;
    use(data, capacity);
    forget(fit->second);
    if (whole > capacity) keep(data + capacity, whole - capacity);
    return data;
  }

  /// Caches a block, together with those that it touches; false where there is no memory to note it, and it was given back.
  bool keep(char* data, size_t capacity) noexcept {
    if (const auto next = by_address_.find(data + capacity); next != by_address_.end()) {
      capacity += next->second->capacity;
      forget(next->second);
    }
    if (auto before = by_address_.lower_bound(data); before != by_address_.begin())
      if (const Entry entry = (--before)->second; entry->data + entry->capacity == data) {
        data = entry->data;
        capacity += entry->capacity;
        forget(entry);
      }
    try {
      by_age_.push_back({data, capacity, by_size_.end(), by_address_.end()});
      const Entry entry = std::prev(by_age_.end());
      cached_ += capacity;
      entry->by_size = by_size_.emplace(capacity, entry);
      entry->by_address = by_address_.emplace(data, entry).first;
      return true;
    } catch (const std::bad_alloc&) {
      if (!by_age_.empty() && by_age_.back().data == data) forget(std::prev(by_age_.end()));
      munmap(data, capacity);
      return false;
    }
  }

  void shorten(Entry entry, size_t capacity) noexcept {
    cached_ -= entry->capacity - capacity;
    entry->capacity = capacity;
    auto place = by_size_.extract(entry->by_size);
    place.key() = capacity;
    entry->by_size = by_size_.insert(std::move(place));
  }

  void forget(Entry entry) noexcept {
    cached_ -= entry->capacity;
    if (entry->by_size != by_size_.end()) by_size_.erase(entry->by_size);
    if (entry->by_address != by_address_.end()) by_address_.erase(entry->by_address);
    by_age_.erase(entry);
  }

  tandem::detail::ForkSafeMutex mutex_;
  std::list<Cached> by_age_;  // oldest first
  std::multimap<size_t, Entry> by_size_;
  std::map<char*, Entry> by_address_;
  std::unordered_map<char*, size_t> used_;  // the capacities of blocks in use
  size_t cached_ = 0, in_use_ = 0, most_in_use_ = 0;
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
