// One epoch of a loader: its batches, read by worker threads, moved to a device by another, and handed out in order.
#pragma once

#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/wait_scope.h"
#include "data/loader.h"
#include "ops/autocast.h"
#include "runtime/stream.h"
#include "runtime/thread_devices.h"

namespace tandem::data::detail {

/// The most threads that read ahead for a loop.
inline constexpr int kMostWorkers = 1024;

/// What an epoch reads, all its own: the loader may go before it.
struct EpochPlan {
  AnyDataset dataset;
  Collate collate_fn;
  std::vector<std::vector<int64_t>> batches;
  int64_t first = 0;  // the batch that the loop begins with
  BatchOptions reading;
  std::optional<Device> device;  // with its index
  int num_workers = 0;
  int64_t window = 0;  // batches that workers may be ahead of the loop
  Site site;
};

class Epoch {
 public:
  /// Starts the threads, as many as there are batches for.
  explicit Epoch(EpochPlan plan);
  /// Waits for the threads, which finish the batches they are in the middle of.
  ~Epoch();
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

  /// Whether the loop has gone past the last batch.
  [[nodiscard]] bool at_end() const { return at_ >= size(); }
  /// The batch that the loop is at, which must not be the end. Throws what went wrong in reading it.
  Batch get();
  /// Goes on to the next one.
  void next();

 private:
  /// A batch on its way to the loop.
  struct Slot {
    Batch batch;
    std::vector<cuda::Event> made;  // one for each GPU with tensors of the batch: passed when their values are there
    std::exception_ptr error;
    bool read = false, moved = false;
  };

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(plan_.batches.size()); }
  [[nodiscard]] Slot& slot(int64_t at) { return slots_[static_cast<size_t>(at % plan_.window)]; }
  [[nodiscard]] Batch read(int64_t at) const;
  [[nodiscard]] Slot fetch();
  void move(Slot& slot) const;
  void start();
  void stop();
  /// In a child forked from the process that began the loop, which has none of the threads.
  [[nodiscard]] bool forked() const;
  void forget_threads();
  void work();      // a worker's thread
  void move_all();  // the mover's

  const EpochPlan plan_;
  const bool grad_enabled_;
  const ops::AutocastState autocast_;
  const tandem::detail::WaitScope wait_scope_ = tandem::detail::wait_scope;  // the loop's
  const pid_t process_ = getpid();
  const runtime::ThreadDevices devices_;  // the loop's

  // The loop's own.
  int64_t at_;
  Slot current_;
  bool fetched_ = false;  // current_ is batch at_

  std::mutex mutex_;  // around what follows
  std::condition_variable may_read_, may_move_, ready_;
  std::vector<Slot> slots_;  // a ring
  int64_t next_;             // the batch for the next worker
  int64_t taken_;            // the one that the loop fetches next
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tandem::data::detail
