// A graph of virtual GPUs: work that a capture has recorded, to be run again and again in the order in which it was queued.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/virtual/task_queue.h"

namespace tandem::runtime::virtual_gpu {

class Stream;

/// The tasks of a capture, and what each of its streams knows of the others' through events. Thread-safe.
class Recording {
 public:
  /// How many tasks of each stream come before a point.
  using Seen = std::map<const Stream*, size_t>;

  explicit Recording(Stream& origin) : origin_(origin) { seen_[&origin]; }
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  [[nodiscard]] Stream& origin() const { return origin_; }
  void add(const Stream& stream, std::unique_ptr<std::byte[]> task);
  /// What an event on `stream` marks.
  [[nodiscard]] Seen mark(const Stream& stream);
  /// What `stream` queues from now on comes after `mark`: it joins the capture where it has not.
  void wait(Stream& stream, const Seen& mark);
  /// Streams that joined.
  [[nodiscard]] std::vector<Stream*> joined();
  /// Whether the stream that the capture began with has waited for all the others' work.
  [[nodiscard]] bool all_waited_for();

  /// Runs every task; for the thread of `stream`, in a task.
  void run(Stream& stream, const Replay* replay) const;

 private:
  Stream& origin_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::byte[]>> tasks_;
  Seen count_;                          // tasks of each stream
  std::map<const Stream*, Seen> seen_;  // of other streams, by those that have waited
  std::vector<Stream*> joined_;
};

}  // namespace tandem::runtime::virtual_gpu
