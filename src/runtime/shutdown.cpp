// A program may end with work queued whose kernels use objects of other libraries (oneDNN's caches) that exit destroys. std::atexit alone
// is too late for those made after it was called, but exit first destroys the thread-local objects of the thread that calls it: on the main
// thread that is our sign.
#include "runtime/shutdown.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace tandem::runtime {
namespace {

constinit std::atomic<void (*)()> stop_function{nullptr};
constinit std::atomic<pid_t> owner{0};

void stop_now() {
  // A forked child has none of the threads.
  if (owner.load() != getpid()) return;
  if (const auto stop = stop_function.exchange(nullptr)) stop();
}

struct MainThreadEnds {
  bool here = false;
  ~MainThreadEnds() { stop_now(); }
};

}  // namespace

void stop_at_exit(void (*stop)()) {
  owner.store(getpid());
  if (stop_function.exchange(stop) == nullptr) std::atexit(stop_now);
  watch_exit();
}

void watch_exit() {
  if (owner.load() == 0 || gettid() != getpid()) return;
  thread_local MainThreadEnds main_thread;
  main_thread.here = true;  // makes it, and so its destructor runs
}

}  // namespace tandem::runtime
