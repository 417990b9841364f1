// One rank's communicator of NCCL. It is asynchronous: no call waits for other ranks without a limit, and another thread can end every
// wait.
#pragma once

#include <nccl.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "comm/backend.h"

namespace tandem::comm::nccl {

/// When a wait for other ranks ends with an error.
struct Limit {
  Clock::time_point deadline = Clock::time_point::max();
  const std::atomic<bool>* aborted = nullptr;
  [[nodiscard]] static Limit of(const Context& context) { return {context.deadline, context.aborted}; }
};

/// Thread-safe. Made as a shared_ptr: queued work keeps it.
class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  /// Begins to meet the other ranks, each of which does the same with the same id; `settle` waits for them.
  Communicator(int device, int size, int rank, const ncclUniqueId& id);
  /// Ends its work where it has not been finalized.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Calls a function of NCCL. It has begun when this returns, or where calls are held (see Held) when they end.
  void call(const char* function, const Limit& limit, const std::function<ncclResult_t(ncclComm_t)>& f);
  /// Waits until what was begun is under way: the other ranks are there.
  void settle(const char* function, const Limit& limit);
  /// The communicator of those that give the same color, in the order of `key`; nullptr where it is NCCL_SPLIT_NOCOLOR. Every rank calls
  /// it. Where NCCL has ncclCommSplit.
  [[nodiscard]] std::shared_ptr<Communicator> split(int color, int key, const Limit& limit);

  /// Ends its work on the device, finished or not, and all waits; every later call is an error that says `reason`. The first one counts.
  void abort(const std::string& reason) noexcept;
  /// What went wrong beside the calls, empty where nothing did. Waits for nothing.
  [[nodiscard]] std::string asynchronous_error();
  /// Begins to take leave, without waiting for anybody.
  void finalize() noexcept;
  /// Whether that has come to an end.
  [[nodiscard]] bool finalized() noexcept;

  [[nodiscard]] int device() const { return device_; }

 private:
  Communicator(int device, ncclComm_t comm) : device_(device), comm_(comm) {}
  /// Error where it has been aborted. With the mutex held.
  void refuse_dead() const;

  const int device_;
  std::mutex mutex_;
  ncclComm_t comm_ = nullptr;  // nullptr once it has been aborted
  std::string reason_;
  bool finalizing_ = false;
};

/// Calls of several communicators that one thread makes begin together: those between `begin` and `end`, which may be nested. For the
/// calling thread.
class Held {
 public:
  static void begin();
  /// All begin, and then what was given to `afterwards` is done. Where an exception unwinds the stack they are given up.
  static void end();
  /// Gives them up: what has been called may begin, but nothing waits for it.
  static void drop() noexcept;
  /// Does `f` once the calls have begun: at once where none are held.
  static void afterwards(std::function<void()> f);
};

}  // namespace tandem::comm::nccl
