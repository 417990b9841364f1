// Whom to look after while waiting: the processes that an object was given to. For the library.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "process/deadline.h"

namespace tandem::multiprocessing::detail {

struct Worker;

/// The processes started by this one that were given a queue, a connection or the like. Thread-safe.
class Peers {
 public:
  Peers() = default;
  /// `on_loss` is called by the library's own thread when one of them fails.
  explicit Peers(std::function<void()> on_loss) : on_loss_(std::move(on_loss)) {}

  void add(std::shared_ptr<Worker> worker);
  void remove(const Worker& worker);
  /// Called when a worker that this object was given to has failed.
  void lose() const {
    if (on_loss_) on_loss_();
  }

  /// Waits until `file` is ready for `events` (POLLIN or POLLOUT); false when the time is over. ProcessError when one of the processes
  /// fails meanwhile, once, or where the wait has no end and all of them have ended. `op` names the operation in errors.
  bool wait(int file, short events, const Deadline& deadline, const char* op);
  /// The other end was closed: a failure of one of the processes comes before that, as soon as it is known.
  void explain_closed(const char* op);
  /// The same errors, without waiting. For waits of other kinds, which look from time to time.
  void check(bool forever, const char* op);

 private:
  std::vector<std::shared_ptr<Worker>> running() const;
  /// Looks at those that have ended; whether some are left.
  void drop_ended(bool forever, const char* op);

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Worker>> workers_;
  bool had_any_ = false;
  std::function<void()> on_loss_;
};

}  // namespace tandem::multiprocessing::detail
