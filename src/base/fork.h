// What a fork must leave whole. The child has the calling thread only: a lock that another thread held would never be free again.
#pragma once

#include <mutex>

namespace tandem::detail {

/// A mutex that fork() takes first, so that the child finds it free and what it guards whole.
class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  bool try_lock() { return mutex_.try_lock(); }

 private:
  friend struct ForkSafeMutexes;
  std::mutex mutex_;
  ForkSafeMutex* next_ = nullptr;
};

/// `run` is called in each child that fork() makes from now on, before fork returns there. An error's number, 0 for success.
int in_forked_children(void (*run)());

}  // namespace tandem::detail
