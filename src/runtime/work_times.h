// When work ran on a stream that is a thread: that thread looks at the clock before and after each task, where somebody asked for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace tandem::runtime {

/// When the tasks ran that a thread queued on one stream while this was its current_work_times.
struct WorkTimes {
  const void* stream = nullptr;  // the driver's handle
  WorkTimes* outer = nullptr;    // what the same tasks count for, too; of the same stream
  // By the stream's thread: nanoseconds of the host's steady clock, 0 where no task has begun.
  std::atomic<int64_t> began{0}, ended{0};
  std::atomic<uint32_t> pending{0};  // tasks that have not run yet: until then it must stay where it is
};

namespace detail {
/// What the calling thread queues belongs to; nullptr: nobody wants to know. Telling (observer.h) puts back what was there before.
extern constinit thread_local WorkTimes* current_work_times;
}  // namespace detail

/// What the calling thread queues belongs to nobody's times until the end of the scope.
class NoWorkTimes {
 public:
  NoWorkTimes() : before_(std::exchange(detail::current_work_times, nullptr)) {}
  ~NoWorkTimes() { detail::current_work_times = before_; }
  NoWorkTimes(const NoWorkTimes&) = delete;
  NoWorkTimes& operator=(const NoWorkTimes&) = delete;

 private:
  WorkTimes* before_;
};

/// A task is queued on `stream`: whose times it belongs to, or nullptr.
[[nodiscard]] inline WorkTimes* begin_task(const void* stream) {
#ifdef TD_NO_OBSERVERS
  return nullptr;
#endif
  WorkTimes* const times = detail::current_work_times;
  if (!times || times->stream != stream) return nullptr;
  for (WorkTimes* t = times; t; t = t->outer) t->pending.fetch_add(1, std::memory_order_relaxed);
  return times;
}

/// That task ran from `began` to `ended`.
inline void end_task(WorkTimes* times, int64_t began, int64_t ended) {
  while (times) {
    WorkTimes* const outer = times->outer;
    if (!times->began.load(std::memory_order_relaxed)) times->began.store(began, std::memory_order_relaxed);
    times->ended.store(ended, std::memory_order_relaxed);
    times->pending.fetch_sub(1, std::memory_order_release);  // may be used for other work from here on
    times = outer;
  }
}

}  // namespace tandem::runtime
