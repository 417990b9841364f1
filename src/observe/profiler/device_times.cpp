#include "observe/profiler/device_times.h"

#include <chrono>
#include <cmath>
#include <deque>
#include <exception>
#include <utility>

#include "base/small_mutex.h"

namespace tandem::profiler {

using runtime::EventHandle;
using runtime::StreamRecord;
using runtime::WorkTimes;

int64_t host_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

// Not destroyed, and never fewer: what is queued may still run when a profile has ended.
class AllTimes {
 public:
  WorkTimes* take(const void* stream) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      if (free_.capacity() <= all_.size()) free_.reserve(2 * all_.size() + 64);  // so that giving back needs no memory
      free_.push_back(&all_.emplace_back());
    }
    WorkTimes* const times = free_.back();
    free_.pop_back();
    times->stream = stream;
    times->outer = nullptr;
    times->began.store(0, std::memory_order_relaxed);
    times->ended.store(0, std::memory_order_relaxed);
    return times;
  }
  void give_back(WorkTimes* times) {
    const std::lock_guard lock(mutex_);
    free_.push_back(times);
  }

 private:
  tandem::detail::SmallMutex mutex_;
  std::deque<WorkTimes> all_;
  std::vector<WorkTimes*> free_;
};
std::atomic<TaskTimer*> the_timer{nullptr};

AllTimes& all_times() {
  static auto* all = new AllTimes;
  return *all;
}

}  // namespace

TaskTimer* task_timer() noexcept { return the_timer.load(); }
void set_task_timer(TaskTimer* timer) noexcept { the_timer = timer; }

TaskTimer* DeviceTimes::timer() noexcept {
  const std::lock_guard lock(asking_);
  if (!std::exchange(asked_, true))
    if (TaskTimer* const timer = task_timer(); timer && timer->start()) timer_ = timer;
  return timer_;
}

void DeviceTimes::finish(bool wait) noexcept {
  TaskTimer* timer;
  {
    const std::lock_guard lock(asking_);
    asked_ = true;  // too late for one
    timer = std::exchange(timer_, nullptr);
  }
  if (!timer) return;
  if (wait) timer->deliver();
  timer->stop();
}

DeviceTimes::~DeviceTimes() {
  finish(false);
  runtime::Driver* const driver = runtime::own_driver();
  if (!driver) return;
  for (Clock& clock : clocks_) {
    for (const EventHandle event : clock.free) driver->destroy_event(event);
    if (clock.base) driver->destroy_event(clock.base);
  }
}

// The GPU's clock is tied to the host's once: an event, and right behind it a function of the host that looks at the time.
bool DeviceTimes::start_clock(Clock& clock, const StreamRecord& stream) {
  runtime::Driver& driver = runtime::require_driver();
  const EventHandle base = driver.create_event(stream.device, true);
  if (!driver.record_event_outside_capture(base, stream.handle)) {
    driver.destroy_event(base);
    return false;
  }
  clock.base = base;
  clock.base_time = std::make_shared<std::atomic<int64_t>>(0);
  using Shared = std::shared_ptr<std::atomic<int64_t>>;
  auto context = std::make_unique<Shared>(clock.base_time);  // it may be called when nobody wants to know any more
  driver.host_function(
      stream.handle,
      [](void* given) {
        const std::unique_ptr<Shared> time(static_cast<Shared*>(given));
        (*time)->store(host_now());
      },
      context.get());
  (void)context.release();
  return true;
}

EventHandle DeviceTimes::record(const StreamRecord& stream) {
  runtime::Driver& driver = runtime::require_driver();
  Clock& clock = of(stream.device);
  EventHandle event = nullptr;
  {
    const std::lock_guard lock(clock.mutex);
    if (!clock.base && !start_clock(clock, stream)) return nullptr;
    if (!clock.free.empty()) {
      event = clock.free.back();
      clock.free.pop_back();
    }
  }
  if (!event) event = driver.create_event(stream.device, true);
  if (driver.record_event_outside_capture(event, stream.handle)) return event;
  const std::lock_guard lock(clock.mutex);
  clock.free.push_back(event);
  return nullptr;
}

Stamps DeviceTimes::begin(const StreamRecord& stream) noexcept {
  try {
    const bool by_thread = runtime::require_driver().times_tasks();
    TaskTimer* const tool = by_thread ? nullptr : timer();
    if (!by_thread && !tool) return {.began = record(stream)};
    WorkTimes* const times = all_times().take(stream.handle);
    WorkTimes*& current = runtime::detail::current_work_times;
    if (current && current->stream == times->stream) times->outer = current;
    if (tool && !tool->begin(*times)) {
      all_times().give_back(times);
      return {};
    }
    current = times;
    return {.times = times, .by_timer = tool != nullptr};
  } catch (const std::exception&) {
    return {};
  }
}

void DeviceTimes::end(Stamps& stamps, const StreamRecord& stream) noexcept {
  if (!stamps.any()) return;
  stamps.closed = true;
  if (stamps.by_timer) timer_->end(*stamps.times);
  if (stamps.times) return;
  try {
    stamps.ended = record(stream);
  } catch (const std::exception&) {
    stamps.ended = nullptr;
  }
  if (!stamps.ended) drop(stamps, stream.device);
}

bool DeviceTimes::passed(const Stamps& stamps) noexcept {
  if (!stamps.closed) return false;
  if (stamps.times) return stamps.times->pending.load(std::memory_order_acquire) == 0;
  runtime::Driver* const driver = runtime::own_driver();
  try {
    return driver && stamps.ended && driver->query_event(stamps.ended);
  } catch (const std::exception&) {
    return false;
  }
}

Span DeviceTimes::take(Stamps& stamps, int device) noexcept {
  Span span;
  if (stamps.times) {
    span = {stamps.times->began.load(std::memory_order_relaxed), stamps.times->ended.load(std::memory_order_relaxed)};
    drop(stamps, device);
    return span;
  }
  runtime::Driver* const driver = runtime::own_driver();
  Clock& clock = of(device);
  try {
    const int64_t base = clock.base_time ? clock.base_time->load() : 0;
    if (driver && base && stamps.ended) {
      const auto since_base = [&](EventHandle event) { return std::llround(driver->elapsed_ms(clock.base, event) * 1e6); };
      const int64_t begin = since_base(stamps.began);
      span = {base + begin, base + begin + std::llround(driver->elapsed_ms(stamps.began, stamps.ended) * 1e6)};
    }
  } catch (const std::exception&) {
    span = {};
  }
  drop(stamps, device);
  return span;
}

void DeviceTimes::drop(Stamps& stamps, int device) noexcept {
  if (WorkTimes* const times = std::exchange(stamps.times, nullptr)) {
    if (stamps.closed && times->pending.load(std::memory_order_acquire) == 0) all_times().give_back(times);
    return;
  }
  Clock& clock = of(device);
  const std::lock_guard lock(clock.mutex);
  for (EventHandle* const event : {&stamps.began, &stamps.ended})
    if (*event) clock.free.push_back(std::exchange(*event, nullptr));
}

}  // namespace tandem::profiler
