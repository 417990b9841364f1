#include "base/small_mutex.h"

#include "base/futex.h"

namespace tandem::detail {

void SmallMutex::lock_held() noexcept {
  // Whoever gets it this way leaves it marked as awaited: there may be others asleep.
  while (word_.exchange(kAwaited, std::memory_order_acquire) != kFree) futex_wait(word_, kAwaited);
}

void SmallMutex::wake_one() noexcept { futex_wake(word_); }

}  // namespace tandem::detail
