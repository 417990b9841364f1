#include "observe/device_times.h"

#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

namespace tandem::profiler {

using runtime::EventHandle;
using runtime::StreamRecord;

int64_t host_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

DeviceTimes::~DeviceTimes() {
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
    return {record(stream), nullptr};
  } catch (const std::exception&) {
    return {};
  }
}

void DeviceTimes::end(Stamps& stamps, const StreamRecord& stream) noexcept {
  if (!stamps.began) return;
  try {
    stamps.ended = record(stream);
  } catch (const std::exception&) {
    stamps.ended = nullptr;
  }
  if (!stamps.ended) drop(stamps, stream.device);
}

bool DeviceTimes::passed(const Stamps& stamps) noexcept {
  runtime::Driver* const driver = runtime::own_driver();
  try {
    return driver && stamps.ended && driver->query_event(stamps.ended);
  } catch (const std::exception&) {
    return false;
  }
}

Span DeviceTimes::take(Stamps& stamps, int device) noexcept {
  Span span;
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
  Clock& clock = of(device);
  const std::lock_guard lock(clock.mutex);
  for (EventHandle* const event : {&stamps.began, &stamps.ended})
    if (*event) clock.free.push_back(std::exchange(*event, nullptr));
}

}  // namespace tandem::profiler
