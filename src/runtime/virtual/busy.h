// How busy a stream's thread is.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace tandem::runtime::virtual_gpu {

/// The share of time that was busy, a moving average: what lies a second back counts a twentieth. Told by one thread when it begins and
/// when it ends to be busy, which costs a look at the clock; asked by any.
class Busy {
 public:
  void begin() { change(true); }
  void end() { change(false); }
  /// From 0 to 1.
  [[nodiscard]] double share() const {
    for (;;) {
      const uint64_t version = version_.load(std::memory_order_acquire);
      const double share = share_.load(std::memory_order_relaxed);
      const int64_t since = since_.load(std::memory_order_relaxed);
      const bool busy = busy_.load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (version % 2 == 0 && version_.load(std::memory_order_relaxed) == version) return later(share, since, busy, now());
    }
  }

 private:
  static constexpr double kNanoseconds = 1e9 / 3;  // after so long a share counts 1/e

  static int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  static double later(double share, int64_t since, bool busy, int64_t now) {
    const double kept = std::exp(static_cast<double>(since - now) / kNanoseconds);
    return busy ? 1 - (1 - share) * kept : share * kept;
  }
  void change(bool busy) {
    const int64_t at = now();
    const double share =
        later(share_.load(std::memory_order_relaxed), since_.load(std::memory_order_relaxed), busy_.load(std::memory_order_relaxed), at);
    const uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    share_.store(share, std::memory_order_relaxed);
    since_.store(at, std::memory_order_relaxed);
    busy_.store(busy, std::memory_order_relaxed);
    version_.store(version + 2, std::memory_order_release);
  }

  std::atomic<uint64_t> version_{0};  // odd while it changes
  std::atomic<double> share_{0};      // at `since_`
  std::atomic<int64_t> since_{0};
  std::atomic<bool> busy_{false};
};

}  // namespace tandem::runtime::virtual_gpu
