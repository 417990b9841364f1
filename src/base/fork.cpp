#include "base/fork.h"

#include <pthread.h>

#include <new>

namespace tandem::detail {

/// All of them, in a list.
struct ForkSafeMutexes {
  static constinit std::mutex changing;
  static constinit ForkSafeMutex* first;

  static void add(ForkSafeMutex& mutex) {
    const std::lock_guard lock(changing);
    static const int registered = pthread_atfork(take_all, give_all, make_all_anew);
    (void)registered;
    mutex.next_ = first;
    first = &mutex;
  }
  static void remove(ForkSafeMutex& mutex) {
    const std::lock_guard lock(changing);
    ForkSafeMutex** place = &first;
    while (*place != &mutex) place = &(*place)->next_;
    *place = mutex.next_;
  }

  /// Waits for one at a time, with none held, so that the order in which others take them does not matter.
  static void take_all() {
    changing.lock();
    ForkSafeMutex* busy = first;
    while (busy) {
      ForkSafeMutex* const held = busy;
      held->lock();
      busy = nullptr;
      for (ForkSafeMutex* mutex = first; mutex && !busy; mutex = mutex->next_)
        if (mutex != held && !mutex->try_lock()) busy = mutex;
      if (!busy) return;
      for (ForkSafeMutex* mutex = first; mutex != busy; mutex = mutex->next_)
        if (mutex != held) mutex->unlock();
      held->unlock();
    }
  }
  static void give_all() {
    for (ForkSafeMutex* mutex = first; mutex; mutex = mutex->next_) mutex->unlock();
    changing.unlock();
  }
  /// Not unlocked: the child's thread is not the one that locked them.
  static void make_all_anew() {
    for (ForkSafeMutex* mutex = first; mutex; mutex = mutex->next_) new (&mutex->mutex_) std::mutex;
    new (&changing) std::mutex;
  }
};

constinit std::mutex ForkSafeMutexes::changing;
constinit ForkSafeMutex* ForkSafeMutexes::first = nullptr;

ForkSafeMutex::ForkSafeMutex() { ForkSafeMutexes::add(*this); }
ForkSafeMutex::~ForkSafeMutex() { ForkSafeMutexes::remove(*this); }

int in_forked_children(void (*run)()) { return pthread_atfork(nullptr, nullptr, run); }

}  // namespace tandem::detail
