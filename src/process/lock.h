// Taking turns and waiting for each other: Lock, RLock and Barrier.
#pragma once

#include <atomic>
#include <memory>

#include "process/codec.h"
#include "process/deadline.h"
#include "process/error.h"
#include "process/robust_mutex.h"
#include "process/shared_object.h"

namespace tandem::multiprocessing {

namespace detail {
/// A lock of processes. Copies are the same one.
class AnyLock {
 public:
  explicit AnyLock(RobustMutex::Kind kind) : mutex_(SharedObject<RobustMutex>::make(kind)) {}
  explicit AnyLock(SharedObject<RobustMutex> mutex) : mutex_(std::move(mutex)) {}

  /// Takes it; waits until it is free. ProcessError where the thread or process that had it ended without releasing it, so that what it
  /// guards may be half changed: once, and the lock is free then. Error where this thread has it, unless it is an RLock.
  void lock() const { (void)lock_for({}, "Lock.lock"); }
  /// Whether it could be taken at once.
  [[nodiscard]] bool try_lock() const { return lock_for(std::chrono::nanoseconds(0), "Lock.try_lock"); }
  /// Whether it could be taken in time.
  [[nodiscard]] bool try_lock_for(std::chrono::nanoseconds timeout) const { return lock_for(timeout, "Lock.try_lock_for"); }
  /// Error where this thread does not have it.
  void unlock() const;
  [[nodiscard]] const SharedObject<RobustMutex>& mutex() const { return mutex_; }

 private:
  bool lock_for(Timeout timeout, const char* op) const;
  SharedObject<RobustMutex> mutex_;
};
}  // namespace detail

/// One thread of all processes at a time; for std::lock_guard and its kin. Copies are the same lock. It belongs to the thread that took it.
/// As multiprocessing.Lock.
class Lock : public detail::AnyLock {
 public:
  Lock() : AnyLock(detail::RobustMutex::Kind::Plain) {}

 private:
  friend struct Codec<Lock>;
  using AnyLock::AnyLock;
};

/// The same for a thread that may take it several times, and releases it as often. As multiprocessing.RLock.
class RLock : public detail::AnyLock {
 public:
  RLock() : AnyLock(detail::RobustMutex::Kind::Recursive) {}

 private:
  friend struct Codec<RLock>;
  using AnyLock::AnyLock;
};

/// A point that a number of processes or threads reach together. Copies are the same barrier. As multiprocessing.Barrier.
class Barrier {
 public:
  /// For `parties`. Error where that is less than one.
  explicit Barrier(int parties);
  /// Waits for the others; which one this is in the order of coming, from 0 on. BrokenBarrier, here and for all others, when the time is
  /// over first, when abort() is called, or when a process that was started with the barrier fails; and from then on, until reset().
  int wait(Timeout timeout = {}, Site = Site::here()) const;
  /// Breaks it for all who wait or will.
  void abort() const;
  /// Makes it as new. Whoever waits gets BrokenBarrier.
  void reset() const;
  [[nodiscard]] int parties() const;
  /// Whether a waiting process was lost, or `abort` was called.
  [[nodiscard]] bool broken() const;

 private:
  friend struct Codec<Barrier>;
  struct State {
    explicit State(int count) : parties(count) {}
    const int parties;
    detail::RobustMutex mutex{detail::RobustMutex::Kind::Plain};
    std::atomic<uint32_t> round{0};   // changes when the last one comes, and when it breaks; who waits sleeps on it
    std::atomic<uint32_t> breaks{0};  // how often it has broken
    std::atomic<bool> broken{false};
    int waiting = 0;
  };
  explicit Barrier(detail::SharedObject<State> state, Site = Site::here());
  static void break_up(State& state);
  detail::SharedObject<State> state_;
  std::shared_ptr<detail::Peers> peers_;
};

template <>
struct Codec<Lock> {
  static void put(detail::Parcel& parcel, const Lock& value) { value.mutex().put(parcel); }
  static Lock take(detail::Received& received) { return Lock(detail::SharedObject<detail::RobustMutex>::take(received)); }
};
template <>
struct Codec<RLock> {
  static void put(detail::Parcel& parcel, const RLock& value) { value.mutex().put(parcel); }
  static RLock take(detail::Received& received) { return RLock(detail::SharedObject<detail::RobustMutex>::take(received)); }
};
template <>
struct Codec<Barrier> {
  static void put(detail::Parcel& parcel, const Barrier& value);
  static Barrier take(detail::Received& received);
};

}  // namespace tandem::multiprocessing
