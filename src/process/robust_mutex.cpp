#include "process/robust_mutex.h"

#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/error.h"

namespace tandem::multiprocessing::detail {

RobustMutex::RobustMutex(Kind kind) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_settype(&attributes, kind == Kind::Recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ERRORCHECK);
  const int error = pthread_mutex_init(&mutex_, &attributes);
  pthread_mutexattr_destroy(&attributes);
  if (error != 0) fail("[Lock] the system has no such mutex: ", std::strerror(error));
}

RobustMutex::Taken RobustMutex::lock(const Deadline& deadline, const char* op) {
  int error;
  if (deadline.forever()) {
    error = pthread_mutex_lock(&mutex_);
  } else {
    // The wait is by the real-time clock, the deadline is not: what is left counts from now.
    error = pthread_mutex_trylock(&mutex_);
    if (error == EBUSY) {
      const auto left = deadline.left(std::chrono::hours(24 * 365));
      timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
      const int64_t nanoseconds = until.tv_nsec + left.count() % 1'000'000'000;
      until.tv_sec += static_cast<time_t>(left.count() / 1'000'000'000 + nanoseconds / 1'000'000'000);
      until.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
      error = pthread_mutex_timedlock(&mutex_, &until);
    }
  }
  switch (error) {
    case 0: return Taken::Yes;
    case ETIMEDOUT: return Taken::No;
    case EOWNERDEAD: pthread_mutex_consistent(&mutex_); return Taken::HolderDied;
    case EDEADLK: fail('[', op, "] this thread holds the lock already: it would wait for itself");
    default: fail('[', op, "] the lock cannot be taken: ", std::strerror(error));
  }
}

void RobustMutex::unlock(const char* op) {
  const int error = pthread_mutex_unlock(&mutex_);
  if (error == EPERM) fail('[', op, "] this thread does not hold the lock");
  if (error != 0) fail('[', op, "] the lock cannot be released: ", std::strerror(error));
}

}  // namespace tandem::multiprocessing::detail
