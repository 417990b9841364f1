// What a binding to another language does around a wait: it lets go of that language's lock, and asks now and then whether the wait is to
// end. The library knows nothing more of it.
#pragma once

#include <atomic>
#include <chrono>
#include <utility>

namespace tandem::detail {

/// The three calls of a binding. One for the process, set once, never taken away.
struct WaitHook {
  void* (*begin)();          // before a wait; what `end` is given
  void (*end)(void* begun);  // after it
  void (*check)();           // each kWaitCheck of a wait, between the two; throws where the wait is to end
};
inline constinit std::atomic<const WaitHook*> wait_hook{nullptr};
inline constexpr std::chrono::milliseconds kWaitCheck{50};

/// Whether a check may end a wait of the calling thread. Only where nothing is lost by that: a copy that is queued already writes into
/// memory that its caller would let go of.
inline thread_local constinit bool wait_may_end = false;
/// It may, until the end of the scope.
class MayEndWaits {
 public:
  MayEndWaits() : before_(std::exchange(wait_may_end, true)) {}
  ~MayEndWaits() { wait_may_end = before_; }
  MayEndWaits(const MayEndWaits&) = delete;
  MayEndWaits& operator=(const MayEndWaits&) = delete;

 private:
  bool before_;
};

/// A wait of the calling thread, until the end of the scope.
class HookedWait {
 public:
  HookedWait() : hook_(wait_hook.load(std::memory_order_acquire)), begun_(hook_ ? hook_->begin() : nullptr) {}
  ~HookedWait() {
    if (hook_) hook_->end(begun_);
  }
  HookedWait(const HookedWait&) = delete;
  HookedWait& operator=(const HookedWait&) = delete;

  /// Whether `check` wants to be called.
  [[nodiscard]] bool checked() const { return hook_ && wait_may_end; }
  /// Throws where the wait is to end; what was waited for goes on.
  void check() const {
    if (checked()) hook_->check();
  }
  /// Sleeps on a condition variable until `ready`; a check may end it.
  template <class Condition, class Lock, class Ready>
  void until(Condition& changed, Lock& lock, Ready ready) const {
    if (!hook_) return changed.wait(lock, ready);
    while (!changed.wait_for(lock, kWaitCheck, ready)) {
      lock.unlock();  // a caller that ends the wait has no use for it
      hook_->check();
      lock.lock();
    }
  }

 private:
  const WaitHook* hook_;
  void* begun_;
};

}  // namespace tandem::detail
