// When work ran on GPUs: as the stream's own thread saw it where there is one, as a TaskTimer tells where there is one, else by an event
// before it and one after, read once they have passed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "observe/profiler/task_timer.h"
#include "runtime/stream_record.h"
#include "runtime/work_times.h"

namespace tandem::profiler {

/// Nanoseconds of the host's steady clock.
[[nodiscard]] int64_t host_now();

/// How the times of one piece of work are learnt: by events, by WorkTimes that somebody writes, or not at all.
struct Stamps {
  runtime::EventHandle began = nullptr, ended = nullptr;
  runtime::WorkTimes* times = nullptr;
  bool by_timer = false;
  bool closed = false;  // all of it has been queued

  [[nodiscard]] bool any() const { return began || times; }
};
/// When it ran, by the host's clock; 0, 0 where that is not known.
struct Span {
  int64_t begin = 0, end = 0;
};

/// Events with timing of all GPUs, used again and again, and what their times are on the host's clock. Thread-safe. Throws nothing: where
/// an event, or memory, cannot be had there is no time.
class DeviceTimes {
 public:
  DeviceTimes() = default;
  DeviceTimes(const DeviceTimes&) = delete;
  DeviceTimes& operator=(const DeviceTimes&) = delete;
  ~DeviceTimes();

  /// What the calling thread queues on the stream from here on is timed; within runtime::Telling, which ends it. No times where the stream
  /// is being captured.
  [[nodiscard]] Stamps begin(const runtime::StreamRecord& stream) noexcept;
  /// Until here.
  void end(Stamps& stamps, const runtime::StreamRecord& stream) noexcept;
  /// Nothing begins any more. What a TaskTimer knows is delivered: after a wait for the GPUs, where the calling thread may `wait`.
  void finish(bool wait) noexcept;
  /// Whether the work has ended, and its times are known.
  [[nodiscard]] static bool passed(const Stamps& stamps) noexcept;
  /// When it ran, once it has passed; the events are free for others.
  [[nodiscard]] Span take(Stamps& stamps, int device) noexcept;
  /// The events are free for others. What times are still written to stays where it is, for good.
  void drop(Stamps& stamps, int device) noexcept;

 private:
  struct Clock {
    std::mutex mutex;
    std::vector<runtime::EventHandle> free;
    runtime::EventHandle base = nullptr;
    std::shared_ptr<std::atomic<int64_t>> base_time;  // on the host's clock; 0 until `base` has passed
  };
  TaskTimer* timer() noexcept;
  Clock& of(int device) { return clocks_[static_cast<size_t>(device)]; }
  bool start_clock(Clock& clock, const runtime::StreamRecord& stream);
  runtime::EventHandle record(const runtime::StreamRecord& stream);

  std::array<Clock, runtime::kMaxDevices> clocks_;
  // No std::call_once: it keeps what it calls in a thread-local variable of libstdc++, and a library that is compiled to find its own at a
  // fixed place cannot be loaded once others have taken the room for such variables.
  std::mutex asking_;
  bool asked_ = false;
  TaskTimer* timer_ = nullptr;  // started
};

}  // namespace tandem::profiler
