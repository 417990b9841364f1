// What goes wrong in queued work: which streams it poisons, which memory was never written because of it, and who is told.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/queue.h"
#include "runtime/virtual/task_queue.h"

namespace tandem::runtime::virtual_gpu {

class Stream;

/// One error in queued work.
struct Failure {
  uint64_t order = 0;               // counts failures
  std::string_view op;              // and
  Trouble trouble = Trouble::None;  // decide the error's type
  std::string text;                 // what is thrown
  Site queued_at = Site::none();    // the line that the text names
  std::vector<Stream*> poisoned;    // whose later work is skipped
};

/// What a stream is poisoned with. Guarded by Faults, but for `any`, which its thread reads at every task.
struct Poison {
  std::atomic<bool> any{false};
  std::shared_ptr<Failure> failure;
  uint64_t number = 0;  // the task that brought it
};

/// A stream up to one of its tasks.
struct Point {
  Stream* stream = nullptr;
  uint64_t number = 0;
};

/// All failures of one driver. Thread-safe. Costs an atomic load where nothing has failed.
class Faults {
 public:
  /// Task `at` failed: its stream is poisoned from there on, and what it should have written is remembered.
  void raise(Point at, Trouble trouble, std::string text, TaskHeader* task);
  /// Task `at` waited for `for_`: it takes over the poison that stream had then.
  void adopt(Point at, Point for_);
  /// Remembers what a task would have written that is skipped since its stream is poisoned.
  void skip(Stream& stream, TaskHeader* task);
  /// Where a task reads what was never written: remembers its own writes too, and true. A copy to the host fails instead.
  bool taints(Point at, TaskHeader* task);
  /// What kept `task` from being done: the stream's error, or why what it reads was never written.
  [[nodiscard]] std::string why(Stream& stream, TaskHeader* task) const;
  /// A task has run: what it wrote is good again.
  void wrote(TaskHeader* task);

  /// Throws the earliest failure of these streams up to these points; it is thrown once and all its streams are free again.
  void throw_first(std::span<const Point> points);
  /// Throws where a part of the memory should have been written by skipped work.
  void check_readable(const void* address, size_t bytes);
  /// The memory has a new owner.
  void forget(const void* address, size_t bytes);
  /// Whether any memory is marked as never written.
  [[nodiscard]] bool any_marks() const { return any_marks_.load(std::memory_order_acquire); }

 private:
  struct Mark {
    uintptr_t end;
    std::shared_ptr<const std::string> text;
  };
  void mark(TaskHeader* task, const Failure& failure);
  void mark(TaskHeader* task, const std::shared_ptr<const std::string>& text);
  void unmark(uintptr_t begin, uintptr_t end);
  [[nodiscard]] std::shared_ptr<const std::string> find(const void* address, size_t bytes) const;
  void poison(Point at, const std::shared_ptr<Failure>& failure);

  mutable std::mutex mutex_;
  uint64_t failures_ = 0;
  std::atomic<bool> any_marks_{false};
  std::map<uintptr_t, Mark> marks_;  // by first address; they do not overlap
};

}  // namespace tandem::runtime::virtual_gpu
