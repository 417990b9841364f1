// Sleeping on a 32-bit word until somebody else changes it: Linux's futex, and the pause that a spinning thread makes.
// Raw, because std::atomic's wait keeps a shared table of waiters that every notify has to look at.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace tandem::detail {

/// Whose threads sleep on a word: this process's, or those of all that map its memory.
enum class Futex : uint8_t { Private, Shared };

/// Sleeps while `word` is `value`, at most for `limit`; may also return for no reason.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t value, const timespec* limit = nullptr, Futex whose = Futex::Private) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), whose == Futex::Private ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT, value, limit, nullptr,
          0);
}
/// Wakes up to `count` threads that sleep on `word`. The word itself is not touched, so it may be gone already.
inline void futex_wake(std::atomic<uint32_t>& word, int count = 1, Futex whose = Futex::Private) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), whose == Futex::Private ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE, count, nullptr, nullptr,
          0);
}
/// Tells the core that this thread spins.
inline void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace tandem::detail
