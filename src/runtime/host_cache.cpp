// The small blocks of the host's memory cache, and its public functions.
#include "runtime/host_cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/fork.h"
#include "runtime/allocator.h"
#include "runtime/fenced_memory.h"

// Under AddressSanitizer every block comes from malloc and goes back to it, at its exact size: a cache would hide overruns and late uses.
#if defined(__SANITIZE_ADDRESS__)
#define TANDEM_PLAIN_HOST_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TANDEM_PLAIN_HOST_MEMORY 1
#endif
#endif

namespace tandem::runtime {
namespace {

using detail::host_bin;
using detail::host_bin_size;
using detail::kHostBins;
static_assert(host_bin(kLargeHostBlock) == kHostBins - 1 && host_bin_size(kHostBins - 1) == kLargeHostBlock);

#if defined(TANDEM_PLAIN_HOST_MEMORY)
constexpr bool kPlain = true;
#else
constexpr bool kPlain = false;
#endif

constexpr size_t kPlainLimit = size_t{1} << 39;  // asked for more, AddressSanitizer ends the program
constexpr size_t kAlignment = 64;
constexpr size_t kThreadLimit = size_t{16} << 20;  // or a sixteenth of what is kept altogether

/// A free block holds the address of the next one.
struct Free {
  Free* next;
};

void* from_system(size_t bytes) {
  void* data = nullptr;
  return posix_memalign(&data, kAlignment, bytes) == 0 ? data : nullptr;
}

/// What is kept where nobody has said how much.
size_t default_limit() noexcept try {
  static const size_t limit = std::min(tandem::detail::usable_memory() / 8, size_t{4} << 30);
  return limit;
} catch (const std::exception&) {  // not even memory to read the limits with
  return kThreadLimit;
}

/// The bins that all threads share. Blocks come and go in batches.
class SharedBins {
 public:
  SharedBins() { detail::limit_large_host(default_limit()); }

  /// Up to `most` blocks as a list.
  Free* take(int bin, uint32_t most, uint32_t& taken) noexcept {
    taken = 0;
    if (!bins_[bin].head.load(std::memory_order_relaxed)) return nullptr;
    const std::lock_guard lock(bins_[bin].mutex);
    Free* const first = bins_[bin].head.load(std::memory_order_relaxed);
    if (!first || most == 0) return nullptr;
    Free* last = first;
    for (taken = 1; taken < most && last->next; ++taken) last = last->next;
    bins_[bin].head.store(last->next, std::memory_order_relaxed);
    last->next = nullptr;
    bytes_.fetch_sub(taken * host_bin_size(bin), std::memory_order_relaxed);
    return first;
  }

  /// Takes over a list of `count` blocks; gives them to the system where enough is cached already.
  void give(int bin, Free* first, Free* last, uint32_t count) noexcept {
    const size_t bytes = count * host_bin_size(bin);
    if (bytes_.load(std::memory_order_relaxed) + bytes > limit() / 4) {
      last->next = nullptr;
      return release(first);
    }
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    const std::lock_guard lock(bins_[bin].mutex);
    last->next = bins_[bin].head.load(std::memory_order_relaxed);
    bins_[bin].head.store(first, std::memory_order_relaxed);
  }

  void trim() noexcept {
    for (int bin = 0; bin < kHostBins; ++bin) {
      uint32_t count = 0;
      release(take(bin, UINT32_MAX, count));
    }
  }

  [[nodiscard]] size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] size_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  size_t limit(size_t bytes) noexcept {
    limit_.store(bytes, std::memory_order_relaxed);
    if (bytes_.load(std::memory_order_relaxed) > bytes / 4) trim();
    return detail::limit_large_host(bytes);
  }

 private:
  static void release(Free* first) noexcept {
    while (first) std::free(std::exchange(first, first->next));
  }
  struct alignas(64) Bin {
    tandem::detail::ForkSafeMutex mutex;
    std::atomic<Free*> head{nullptr};
  };
  Bin bins_[kHostBins];
  std::atomic<size_t> bytes_{0};
  std::atomic<size_t> limit_{default_limit()};  // of large blocks; of small ones a quarter
};

/// Never destroyed: tensors with static storage are freed after everything else.
SharedBins& shared() {
  static auto* const instance = new SharedBins;
  return *instance;
}

/// One thread's own bins.
class ThreadBins {
 public:
  ThreadBins() {
    for (int bin = 0; bin < kHostBins; ++bin) {
      const auto most = std::clamp<size_t>((size_t{256} << 10) / host_bin_size(bin), 4, 64);
      bins_[bin] = {nullptr, 0, static_cast<uint32_t>(most)};
    }
  }

  void* allocate(int bin) noexcept {
    Bin& own = bins_[bin];
    if (!own.head) {
      uint32_t taken = 0;
      own.head = shared().take(bin, own.most / 2, taken);
      if (!own.head) return nullptr;
      own.count = taken;
      bytes_ += taken * host_bin_size(bin);
    }
    Free* const block = own.head;
    own.head = block->next;
    --own.count;
    bytes_ -= host_bin_size(bin);
    return block;
  }

  void free(void* data, int bin) noexcept {
    Bin& own = bins_[bin];
    auto* const block = static_cast<Free*>(data);
    block->next = own.head;
    own.head = block;
    ++own.count;
    bytes_ += host_bin_size(bin);
    if (own.count > own.most || bytes_ > limit_) give_back(bin, own.count / 2 + 1);
  }

  void give_back_all() noexcept {
    for (int bin = 0; bin < kHostBins; ++bin) give_back(bin, bins_[bin].count);
  }

 private:
  struct Bin {
    Free* head;
    uint32_t count, most;
  };

  /// Moves blocks to the shared bins; those freed last are warm and stay.
  void give_back(int bin, uint32_t count) noexcept {
    Bin& own = bins_[bin];
    if (count == 0) return;
    Free* const head = own.head;
    Free* kept = nullptr;
    Free* first = head;
    for (uint32_t i = count; i < own.count; ++i) {
      kept = first;
      first = first->next;
    }
    Free* last = first;
    for (uint32_t i = 1; i < count; ++i) last = last->next;
    if (kept) kept->next = nullptr;
    else own.head = nullptr;
    own.count -= count;
    bytes_ -= count * host_bin_size(bin);
    shared().give(bin, first, last, count);
  }

  Bin bins_[kHostBins];
  size_t bytes_ = 0;
  const size_t limit_ = std::min(kThreadLimit, default_limit() / 16);
};

// A bare pointer, so that the hot path has no guard to check; what destroys it at the thread's end is made when it is made.
[[gnu::tls_model("initial-exec")]] thread_local ThreadBins* thread_bins = nullptr;
thread_local bool thread_ended = false;

struct ThreadEnd {
  bool armed = false;
  ~ThreadEnd() {
    thread_ended = true;
    if (ThreadBins* const bins = std::exchange(thread_bins, nullptr)) {
      bins->give_back_all();
      delete bins;
    }
  }
};
thread_local ThreadEnd thread_end;

/// The calling thread's bins, made where it has none; nullptr where the thread is ending.
[[gnu::noinline, gnu::cold]] ThreadBins* make_thread_bins() noexcept {
  if (thread_bins || thread_ended) return thread_bins;
  thread_end.armed = true;
  thread_bins = new (std::nothrow) ThreadBins;
  return thread_bins;
}

[[noreturn, gnu::noinline, gnu::cold]] void no_memory(size_t bytes) {
  const size_t mib = size_t{1} << 20, free = static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  fail<OutOfMemoryError>("[allocate] could not get ", bytes, " bytes of host memory (", free / mib,
                         " MiB are free, and this process may use ", tandem::detail::usable_memory() / mib,
                         " MiB): let go of tensors or use smaller ones");
}

/// Where the calling thread's bin is empty and the shared one too, or the thread has no bins yet.
[[gnu::noinline, gnu::cold]] void* allocate_small_slowly(size_t bytes, int bin) {
  if (ThreadBins* const bins = make_thread_bins()) {
    if (void* const data = bins->allocate(bin)) return data;
  }
  const size_t capacity = host_bin_size(bin);
  void* data = from_system(capacity);
  if (!data) {
    trim_host_cache();
    data = from_system(capacity);
  }
  if (!data) no_memory(bytes);
  return data;
}

}  // namespace

void* allocate_host(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes >= kLeastFenced && fences_memory()) {
    void* const data = allocate_fenced(bytes);
    if (!data) no_memory(bytes);
    return data;
  }
  if constexpr (kPlain) {
    void* const data = bytes <= kPlainLimit ? from_system(bytes) : nullptr;
    if (!data) no_memory(bytes);
    return data;
  }
  if (bytes >= kLargeHostBlock) {
    (void)shared();  // sets the limit
    void* const data = detail::allocate_large_host(bytes);
    if (!data) no_memory(bytes);
    return data;
  }
  const int bin = host_bin(bytes);
  if (ThreadBins* const bins = thread_bins) {
    if (void* const data = bins->allocate(bin)) return data;
  }
  return allocate_small_slowly(bytes, bin);
}

void free_host(void* data, size_t bytes) noexcept {
  if (!data) return;
  if (bytes >= kLeastFenced && fences_memory()) return free_fenced(data, bytes);
  if constexpr (kPlain) return std::free(data);
  if (bytes >= kLargeHostBlock) return detail::free_large_host(data);
  const int bin = host_bin(bytes);
  ThreadBins* bins = thread_bins;
  if (!bins) bins = make_thread_bins();
  if (bins) return bins->free(data, bin);
  auto* const block = static_cast<Free*>(data);
  shared().give(bin, block, block, 1);
}

size_t host_cache_bytes() noexcept { return shared().bytes() + detail::large_host_cached(); }

void trim_host_cache() noexcept {
  if (thread_bins) thread_bins->give_back_all();
  shared().trim();
  detail::trim_large_host();
}

constinit std::atomic<size_t> primitive_bytes{0};
size_t primitive_limit() noexcept { return std::min(default_limit() / 4, size_t{96} << 20); }

size_t set_host_cache_limit(size_t bytes) noexcept { return shared().limit(bytes); }
size_t host_cache_limit() noexcept { return shared().limit(); }

}  // namespace tandem::runtime
