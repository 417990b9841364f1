// How long a call may wait: a time, or for ever.
#pragma once

#include <chrono>
#include <optional>

namespace tandem::multiprocessing {

/// A span of time; nothing is for ever. As `std::chrono::milliseconds(50)`.
using Timeout = std::optional<std::chrono::nanoseconds>;

namespace detail {

/// The moment at which a Timeout that begins now is over.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(Timeout timeout) {
    if (!timeout) return;
    const auto now = Clock::now();
    // Far enough is for ever: adding must not overflow.
    if (*timeout < Clock::time_point::max() - now) end_ = now + *timeout;
  }

  [[nodiscard]] bool forever() const { return !end_; }
  [[nodiscard]] bool passed() const { return end_ && Clock::now() >= *end_; }
  [[nodiscard]] std::optional<Clock::time_point> end() const { return end_; }
  /// What is left, at most `most`.
  [[nodiscard]] std::chrono::nanoseconds left(std::chrono::nanoseconds most) const {
    if (!end_) return most;
    const std::chrono::nanoseconds left = *end_ - Clock::now();
    return left < std::chrono::nanoseconds(0) ? std::chrono::nanoseconds(0) : left < most ? left : most;
  }

 private:
  std::optional<Clock::time_point> end_;
};

}  // namespace detail
}  // namespace tandem::multiprocessing
