// A mutex in shared memory whose holder may die. For the library.
#pragma once

#include <pthread.h>

#include "process/deadline.h"

namespace tandem::multiprocessing::detail {

/// Lies in shared memory, and is never destroyed: the memory goes with its last holder.
class RobustMutex {
 public:
  enum class Kind { Plain, Recursive };
  /// How a lock was taken, if it was.
  enum class Taken { No, Yes, HolderDied };

  explicit RobustMutex(Kind kind);
  RobustMutex(const RobustMutex&) = delete;
  RobustMutex& operator=(const RobustMutex&) = delete;

  /// HolderDied: it is this thread's, but whoever had it died holding it, so what it guards may be half changed. Error where this thread
  /// holds it already and it is not recursive. `op` names the operation in errors.
  [[nodiscard]] Taken lock(const Deadline& deadline, const char* op);
  /// Error where this thread does not hold it.
  void unlock(const char* op);

 private:
  pthread_mutex_t mutex_;
};

}  // namespace tandem::multiprocessing::detail
