// A mutex of four bytes, for objects of which there are many.
#pragma once

#include <atomic>
#include <cstdint>

namespace tandem::detail {

/// As std::mutex; who waits sleeps on the word itself.
class SmallMutex {
 public:
  SmallMutex() = default;
  SmallMutex(const SmallMutex&) = delete;
  SmallMutex& operator=(const SmallMutex&) = delete;
  ~SmallMutex() = default;

  void lock() noexcept {
    uint32_t free = kFree;
    if (!word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) lock_held();
  }
  void unlock() noexcept {
    if (word_.exchange(kFree, std::memory_order_release) == kAwaited) wake_one();
  }

 private:
  static constexpr uint32_t kFree = 0, kHeld = 1, kAwaited = 2;
  void lock_held() noexcept;
  void wake_one() noexcept;

  std::atomic<uint32_t> word_{kFree};
};

}  // namespace tandem::detail
