// A tool that tells when work ran on real GPUs. The CUDA plug-in brings one, which asks NVIDIA's CUPTI.
#pragma once

#include "runtime/work_times.h"

namespace tandem::profiler {

class TaskTimer {
 public:
  virtual ~TaskTimer() = default;
  /// Work that is queued from here on is timed, until `stop` has been called as often. Whether that is possible.
  [[nodiscard]] virtual bool start() noexcept = 0;
  virtual void stop() noexcept = 0;
  /// What the calling thread queues from here on belongs to `times` and those outside of it, until `end`; calls nest. Something is pending
  /// from now on. False: it is not timed, and nothing is.
  [[nodiscard]] virtual bool begin(runtime::WorkTimes& times) noexcept = 0;
  virtual void end(runtime::WorkTimes& times) noexcept = 0;
  /// Waits for the GPUs: what was ended before has its times, and nothing pending.
  virtual void deliver() noexcept = 0;
};

/// nullptr: there is none. It lasts as long as the program.
[[nodiscard]] TaskTimer* task_timer() noexcept;
void set_task_timer(TaskTimer* timer) noexcept;

}  // namespace tandem::profiler
