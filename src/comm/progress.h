// Asynchronous messages of a rank: however many are under way, with whatever tags, one thread moves all of them.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/backend.h"
#include "tensor/tensor.h"

namespace tandem::comm {

/// What is asked for by isend or irecv.
struct AsyncMessage {
  Call call;
  Device device;                       // where the tensor is
  Clock::time_point deadline;          // when its wait becomes an error
  const std::atomic<bool>* aborted;    // as in Context
  std::optional<std::string> spoiled;  // work before it failed
  Tensor tensor;                       // dense; held until it is done
  std::function<void()> started;
  std::function<void(std::exception_ptr)> done;  // called once, by any thread, after the tensor has been let go of
};

/// The messages of one back end that are under way. Its thread starts with the first that is not done at once, and ends with this, after
/// the last of them. Thread-safe.
class Progress {
 public:
  explicit Progress(Backend& backend);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a message, behind those that were added before.
  void add(AsyncMessage message);

 private:
  struct Pending;
  void work();
  bool advance_all(std::list<std::unique_ptr<Pending>>& pending, bool look);

  Backend& backend_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::unique_ptr<Pending>> added_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tandem::comm
